// furlong's adapter protocol, version 1: the conversation, the stamps and the loops.
//
// A program gives Run its row: its name as in the manifest, its claims, and what opens one end of it. Of the shape
// "self", the end is a BothRoles, which has started the responder: this program again, as one of a pair.

package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"os"
	"runtime"
	"strconv"
	_ "unsafe" // for go:linkname
)

// How far a number may be off and still count as another message's rather than as damage.
const near = 64

// nanotime reads CLOCK_MONOTONIC without a system call.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// Failure is what the protocol calls an error: a fault by its name, and the detail that the row shows.
type Failure struct{ Fault, Detail string }

func (f *Failure) Error() string { return f.Detail }

// Unsupported is what cannot be done here, which is no failure.
func Unsupported(format string, values ...any) error {
	return &Failure{"unsupported", fmt.Sprintf(format, values...)}
}

// Stamp is what the messages of one direction carry.
type Stamp uint64

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (s Stamp) head(number uint32) uint64 {
	return uint64(number) | uint64(number^uint32(s>>32))<<32
}

func (s Stamp) tail(number uint32) uint64 {
	return bits.RotateLeft64(uint64(s), 17) ^ uint64(number)
}

// Write writes head and end.
func (s Stamp) Write(message []byte, number uint32) {
	size := len(message)
	if size < 8 {
		var head [8]byte
		binary.LittleEndian.PutUint64(head[:], s.head(number))
		copy(message, head[:])
		return
	}
	binary.LittleEndian.PutUint64(message, s.head(number))
	if size >= 16 {
		binary.LittleEndian.PutUint64(message[size-8:], s.tail(number))
	}
}

// WriteAll writes every byte.
func (s Stamp) WriteAll(message []byte, number uint32) {
	key := uint64(s) + uint64(number)<<32
	var word [8]byte
	for at := 0; at < len(message); at += 8 {
		binary.LittleEndian.PutUint64(word[:], mix(key^uint64(at/8)*0x9e3779b97f4a7c15))
		copy(message[at:], word[:])
	}
	s.Write(message, number)
}

// Check looks at length, head and end of the message with this number, of which so many bytes came.
func (s Stamp) Check(message []byte, received int, number uint32) error {
	size := len(message)
	if size >= 16 && received == size && binary.LittleEndian.Uint64(message) == s.head(number) &&
		binary.LittleEndian.Uint64(message[size-8:]) == s.tail(number) {
		return nil
	}
	return s.explain(message, received, number)
}

// CheckAll looks at every byte.
func (s Stamp) CheckAll(message []byte, received int, number uint32) error {
	if err := s.Check(message, received, number); err != nil {
		return err
	}
	sent := make([]byte, len(message))
	s.WriteAll(sent, number)
	return flipped(message, sent, number)
}

// What happened to a message, if it is not the one with this number.
func (s Stamp) explain(message []byte, received int, number uint32) error {
	if received != len(message) {
		return &Failure{"truncated", fmt.Sprintf("message %d has %d bytes instead of %d", number, received, len(message))}
	}
	sent := append([]byte(nil), message...)
	s.Write(sent, number)
	head := min8(len(message))
	for off := uint32(1); off <= near && !bytes.Equal(message[:head], sent[:head]); off++ {
		other := make([]byte, head)
		for _, found := range []uint32{number - off, number + off} {
			s.Write(other, found)
			if !bytes.Equal(message[:head], other) {
				continue
			}
			if found == number-off {
				return &Failure{"repeated", fmt.Sprintf("message %d arrived again instead of %d", found, number)}
			}
			return &Failure{"lost", fmt.Sprintf("message %d arrived instead of %d, which was lost", found, number)}
		}
	}
	return flipped(message, sent, number)
}

func min8(size int) int {
	if size < 8 {
		return size
	}
	return 8
}

func flipped(message, sent []byte, number uint32) error {
	for at := range message {
		if message[at] != sent[at] {
			return &Failure{"flipped", fmt.Sprintf("message %d differs from the sent message, first at byte %d", number, at)}
		}
	}
	return nil
}

// Request is what furlong asks for.
type Request struct {
	Op       string    `json:"op"`
	Role     string    `json:"role"`
	Pattern  string    `json:"pattern"`
	Wait     string    `json:"wait"`
	Sizes    [2]int    `json:"sizes_bytes"`
	Stamps   [2]string `json:"stamps"`
	Folder   string    `json:"folder"`
	Name     string    `json:"name"`
	Phase    string    `json:"phase"`
	Messages uint64    `json:"messages"`
	Batch    uint64    `json:"batch"`
	Verify   bool      `json:"verify"`
}

// End is one end of a mechanism. Receive gives how many bytes came.
type End interface {
	Send(message []byte) error
	Receive(message []byte) (int, error)
	Close() error
}

// Stream is an end of a stream of bytes, or of two.
type Stream struct {
	To interface {
		io.Writer
		io.Closer
	}
	From io.ReadCloser
}

// Send sends a message.
func (s Stream) Send(message []byte) error {
	_, err := s.To.Write(message)
	return err
}

// Receive receives a whole message.
func (s Stream) Receive(message []byte) (int, error) {
	got, err := io.ReadFull(s.From, message)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("the peer has disconnected")
	}
	return got, err
}

// Close closes both.
func (s Stream) Close() error {
	s.To.Close()
	return s.From.Close()
}

// Row is one row of the manifest.
type Row struct {
	Name, Shape string
	Claims      map[string]any
	Open        func(Request) (End, error)
}

// Role is one end and its messages.
type Role struct {
	end                End
	role, pattern      string
	own, other         Stamp
	outgoing, incoming []byte
	done               uint64
	readings           []int64
}

func newRole(request Request, end End) (*Role, error) {
	var words [2]Stamp
	for way, text := range request.Stamps {
		word, err := strconv.ParseUint(text, 16, 64)
		if err != nil {
			return nil, err
		}
		words[way] = Stamp(word)
	}
	own, other := 0, 1
	switch request.Role {
	case "responder":
		own, other = 1, 0
	case "both":
		own, other = 0, 0
	}
	return &Role{
		end: end, role: request.Role, pattern: request.Pattern,
		own: words[own], other: words[other],
		outgoing: make([]byte, request.Sizes[own]), incoming: make([]byte, request.Sizes[other]),
	}, nil
}

// Exchange exchanges messages and gives how many of those received were verified.
func (r *Role) Exchange(messages, batch uint64, verify bool) (uint64, error) {
	stamp, check := Stamp.Write, Stamp.Check
	if verify {
		stamp, check = Stamp.WriteAll, Stamp.CheckAll
	}
	write := func(number uint64) { stamp(r.own, r.outgoing, uint32(number)) }
	holds := func(received int, number uint64) error {
		return check(r.other, r.incoming, received, uint32(number))
	}
	loop := map[string]func(uint64, uint64, uint64, func(uint64), func(int, uint64) error) error{
		"initiator": r.initiate, "both": r.initiate, "responder": r.respond,
		"initiator one-way": r.sendAll, "responder one-way": r.receiveAll, "both one-way": r.sendAndReceive,
	}
	kind := r.role
	if r.pattern == "one-way" {
		kind += " one-way"
	}
	every := batch
	if every == 0 {
		every = messages
	}
	r.readings = make([]int64, 0, messages/every+1)
	if err := loop[kind](r.done+1, r.done+messages, every, write, holds); err != nil {
		return 0, err
	}
	r.done += messages
	if batch == 0 {
		r.readings = r.readings[:0]
	}
	if verify && kind != "initiator one-way" {
		return messages, nil
	}
	return 0, nil
}

func (r *Role) read() { r.readings = append(r.readings, nanotime()) }

func (r *Role) initiate(first, last, batch uint64, stamp func(uint64), check func(int, uint64) error) error {
	stamp(first)
	received, inBatch := 0, batch
	r.read()
	for number := first; number <= last; number++ {
		if err := r.end.Send(r.outgoing); err != nil {
			return err
		}
		if number > first {
			if err := check(received, number-1); err != nil {
				return err
			}
		}
		stamp(number + 1)
		var err error
		if received, err = r.end.Receive(r.incoming); err != nil {
			return err
		}
		if inBatch--; inBatch == 0 {
			r.read()
			inBatch = batch
		}
	}
	return check(received, last)
}

func (r *Role) respond(first, last, _ uint64, stamp func(uint64), check func(int, uint64) error) error {
	stamp(first)
	for number := first; number <= last; number++ {
		received, err := r.end.Receive(r.incoming)
		if err != nil {
			return err
		}
		if err := r.end.Send(r.outgoing); err != nil {
			return err
		}
		if err := check(received, number); err != nil {
			return err
		}
		stamp(number + 1)
	}
	return nil
}

func (r *Role) sendAll(first, last, _ uint64, stamp func(uint64), _ func(int, uint64) error) error {
	r.read()
	for number := first; number <= last; number++ {
		stamp(number)
		if err := r.end.Send(r.outgoing); err != nil {
			return err
		}
	}
	return nil
}

func (r *Role) receiveAll(first, last, batch uint64, _ func(uint64), check func(int, uint64) error) error {
	inBatch := batch
	for number := first; number <= last; number++ {
		received, err := r.end.Receive(r.incoming)
		if err != nil {
			return err
		}
		if err := check(received, number); err != nil {
			return err
		}
		if inBatch--; inBatch == 0 {
			r.read()
			inBatch = batch
		}
	}
	return nil
}

func (r *Role) sendAndReceive(first, last, batch uint64, stamp func(uint64), check func(int, uint64) error) error {
	r.read()
	for number := first; number <= last; {
		end := number + batch
		for ; number < end; number++ {
			stamp(number)
			if err := r.end.Send(r.outgoing); err != nil {
				return err
			}
			received, err := r.end.Receive(r.incoming)
			if err != nil {
				return err
			}
			if err := check(received, number); err != nil {
				return err
			}
		}
		r.read()
	}
	return nil
}

// Reply is what a program answers.
type Reply map[string]any

func refuse(request Request, claims map[string]any) error {
	has := func(claim string, asked string) bool {
		for _, there := range claims[claim].([]string) {
			if there == asked {
				return true
			}
		}
		return false
	}
	switch {
	case !has("waits", request.Wait):
		return Unsupported("it cannot wait by %s", request.Wait)
	case !has("patterns", request.Pattern):
		return Unsupported("it has no pattern %s", request.Pattern)
	case request.Sizes[0] < 1 || request.Sizes[1] < 1:
		return Unsupported("a message has at least one byte")
	}
	return nil
}

// Run answers furlong's requests until there are no more.
func Run(row Row) {
	claims := map[string]any{"waits": []string{"block"}, "patterns": []string{"round-trip", "one-way", "request"}}
	for claim, value := range row.Claims {
		claims[claim] = value
	}
	from, err := os.Open(os.Getenv("FURLONG_READ"))
	if err != nil {
		panic(err)
	}
	to, err := os.OpenFile(os.Getenv("FURLONG_WRITE"), os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	var end End
	var role *Role
	leave := func() {
		if end != nil {
			end.Close()
		}
		end, role = nil, nil
	}
	defer leave()
	answer := func(request Request, line []byte) (Reply, error) {
		if role == nil && (request.Op == "exchange" || request.Op == "readings") {
			return nil, fmt.Errorf("nothing is set up")
		}
		both, hasChild := end.(*BothRoles)
		switch request.Op {
		case "hello":
			return Reply{"op": "hello", "protocol": 1, "name": row.Name, "clock_ns": nanotime(), "shape": row.Shape,
				"versions": Reply{"Go": runtime.Version()}, "claims": claims}, nil
		case "set-up":
			if err := refuse(request, claims); err != nil {
				return nil, err
			}
			opened, err := row.Open(request)
			if err != nil {
				return nil, err
			}
			end = opened
			processes := []Reply{}
			if both, ok := opened.(*BothRoles); ok {
				request.Role = "initiator"
				processes = append(processes, Reply{"pid": both.child.Process.Pid, "role": "responder"})
			}
			effective := Reply{"pattern": request.Pattern, "wait": request.Wait, "sizes_bytes": request.Sizes}
			role, err = newRole(request, opened)
			return Reply{"op": "ready", "effective": effective, "processes": processes}, err
		case "exchange":
			reply := Reply{"op": "exchanged", "messages": request.Messages}
			if hasChild {
				verified, err := both.exchange(role, request, line)
				reply["verified"] = verified
				return reply, err
			}
			verified, err := role.Exchange(request.Messages, request.Batch, request.Verify)
			reply["verified"] = verified
			return reply, err
		case "readings":
			readings := role.readings
			if hasChild {
				theirs, err := both.ask(line)
				if err != nil {
					return nil, err
				}
				readings = append(readings, theirs.Readings...)
			}
			return Reply{"op": "readings", "clock_ns": readings}, nil
		case "finish":
			leave()
			return Reply{"op": "finished"}, nil
		}
		return nil, Unsupported("the request %s is unknown", request.Op)
	}
	for lines := bufio.NewReader(from); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var request Request
		if err := json.Unmarshal(line, &request); err != nil {
			panic(err)
		}
		reply, err := answer(request, line)
		if err != nil {
			failure, is := err.(*Failure)
			if !is {
				failure = &Failure{"error", err.Error()}
			}
			reply = Reply{"op": "error", "fault": failure.Fault, "detail": failure.Detail}
		}
		text, _ := json.Marshal(reply)
		to.Write(append(text, '\n'))
		if err != nil {
			// The other role may wait for a message that never comes.
			leave()
		}
		if request.Op == "finish" {
			return
		}
	}
}
