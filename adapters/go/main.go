// Rows of what Go's own library has: os.Pipe, and a UNIX socket of net.

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// null gives back what it was given.
type null struct{ held []byte }

func (n *null) Send(message []byte) error {
	copy(n.held, message)
	return nil
}

func (n *null) Receive(message []byte) (int, error) {
	return copy(message, n.held), nil
}

func (n *null) Close() error { return nil }

func openNull(request Request) (End, error) {
	return &null{held: make([]byte, request.Sizes[0])}, nil
}

// Where the responder finds its ends: those that StartResponder was given.
const responderReads, responderWrites = 5, 6

func openPipes(request Request) (End, error) {
	if request.Role == "responder" {
		return Stream{To: os.NewFile(responderWrites, "back"), From: os.NewFile(responderReads, "there")}, nil
	}
	there, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, back, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return StartResponder(Stream{To: to, From: from}, request, os.Args[1:], there, back)
}

func openSocket(request Request) (End, error) {
	name := filepath.Join(request.Folder, "socket")
	if request.Role == "responder" {
		listener, err := net.Listen("unix", name)
		if err != nil {
			return nil, err
		}
		connection, err := listener.Accept()
		// Removes the name, too.
		listener.Close()
		return Stream{To: connection, From: connection}, err
	}
	for {
		connection, err := net.Dial("unix", name)
		switch {
		case err == nil:
			return Stream{To: connection, From: connection}, nil
		case !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ECONNREFUSED):
			return nil, err
		}
		time.Sleep(time.Millisecond)
	}
}

var rows = map[string]Row{
	"null": {
		Name: "go-null", Shape: "self", Open: openNull,
		Claims: map[string]any{
			"summary": "Go's loop without a mechanism: the message is copied into private memory and out again",
			"waits":   []string{"spin"}, "when_full": "overwrites", "peer_death": "unnoticed", "reach": "fork", "alone": true,
		},
	},
	"os-pipe": {
		Name: "go-os-pipe", Shape: "self", Open: openPipes,
		Claims: map[string]any{
			"summary": "os.Pipe in each direction, inherited through exec.Cmd's ExtraFiles", "reach": "descriptor",
		},
	},
	"unix-socket": {
		Name: "go-unix-socket", Shape: "pair", Open: openSocket,
		Claims: map[string]any{"summary": "net over a UNIX socket, with Read and Write"},
	},
}

func main() {
	row, is := rows[os.Args[len(os.Args)-1]]
	if !is {
		fmt.Fprintln(os.Stderr, "give the name of a row: null, os-pipe or unix-socket")
		os.Exit(2)
	}
	Run(row)
}
