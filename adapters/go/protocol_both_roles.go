// Rows of the shape "self": the responder is this program again, started with its ends and asked as furlong would ask it.

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// BothRoles is the initiator's end, and the responder in a process of its own.
type BothRoles struct {
	End
	child   *exec.Cmd
	to      *os.File
	replies *bufio.Reader
}

// What the responder replies.
type said struct {
	Op       string
	Verified uint64
	Readings []int64 `json:"clock_ns"`
	Fault    string
	Detail   string
}

// StartResponder starts this program with these arguments and files, which are its descriptors from 5 on, and sets it up.
func StartResponder(end End, request Request, arguments []string, files ...*os.File) (*BothRoles, error) {
	requests, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, replies, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	child := exec.Command(program, arguments...)
	child.Env = append(os.Environ(), "FURLONG_READ=/dev/fd/3", "FURLONG_WRITE=/dev/fd/4")
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	child.ExtraFiles = append([]*os.File{requests, replies}, files...)
	if err := child.Start(); err != nil {
		return nil, err
	}
	for _, file := range child.ExtraFiles {
		file.Close()
	}
	both := &BothRoles{End: end, child: child, to: to, replies: bufio.NewReader(from)}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated
		both.Close()
		os.Exit(128 + int(syscall.SIGTERM))
	}()
	request.Role = "responder"
	line, err := json.Marshal(request)
	if err == nil {
		_, err = both.ask(append(line, '\n'))
	}
	if err != nil {
		both.Close()
		return nil, err
	}
	return both, nil
}

// Close ends the responder, too.
func (b *BothRoles) Close() error {
	b.child.Process.Kill()
	b.child.Process.Wait()
	return b.End.Close()
}

func (b *BothRoles) ask(line []byte) (said, error) {
	if _, err := b.to.Write(line); err != nil {
		return said{}, err
	}
	return b.hear()
}

func (b *BothRoles) hear() (said, error) {
	var what said
	line, err := b.replies.ReadBytes('\n')
	if err != nil {
		return what, fmt.Errorf("the responder is gone")
	}
	if err := json.Unmarshal(line, &what); err != nil {
		return what, err
	}
	if what.Op == "error" {
		return what, &Failure{what.Fault, what.Detail}
	}
	return what, nil
}

// Exchanges messages in both processes, and gives how many were verified.
func (b *BothRoles) exchange(role *Role, request Request, line []byte) (uint64, error) {
	if _, err := b.to.Write(line); err != nil {
		return 0, err
	}
	own, err := role.Exchange(request.Messages, request.Batch, request.Verify)
	if _, ours := err.(*Failure); ours {
		return 0, err
	}
	if err != nil {
		// It ended because the responder has ended, which says why.
		b.End.Close()
	}
	theirs, failed := b.hear()
	if failed != nil {
		return 0, failed
	}
	return own + theirs.Verified, err
}
