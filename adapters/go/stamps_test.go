// Tests the stamps with ../stamps.json, which furlong's own code made: go test.

package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"testing"
)

func fault(err error) string {
	if failure, is := err.(*Failure); is {
		return failure.Fault
	}
	return ""
}

func TestStamps(t *testing.T) {
	text, err := os.ReadFile("../stamps.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Stamp, Bytes string
		Number       uint64
		Length       int
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors) == 0 {
		t.Fatal("no vectors", err)
	}
	for _, vector := range vectors {
		word, _ := strconv.ParseUint(vector.Stamp, 16, 64)
		sent, _ := hex.DecodeString(vector.Bytes)
		stamp, number, message := Stamp(word), uint32(vector.Number), make([]byte, vector.Length)
		stamp.WriteAll(message, number)
		if !bytes.Equal(message, sent) {
			t.Fatalf("%+v: %x", vector, message)
		}
		if err := stamp.CheckAll(sent, len(sent), number); err != nil {
			t.Fatal(vector, err)
		}
		for at := range sent {
			damaged := append([]byte(nil), sent...)
			damaged[at] ^= 0x80
			found := fault(stamp.CheckAll(damaged, len(damaged), number))
			if found == "" || (len(sent) >= 8 && found != "flipped") {
				t.Fatal(vector, at, found)
			}
		}
		if found := fault(stamp.Check(sent, len(sent)-1, number)); found != "truncated" {
			t.Fatal(vector, found)
		}
		for other, due := range map[uint32]string{number + 1: "lost", number - 1: "repeated"} {
			stamp.Write(message, other)
			if found := fault(stamp.Check(message, len(message), number)); found != due {
				t.Fatal(vector, found)
			}
		}
	}
}
