// The row NAME: messages through a UNIX socket, as a beginning. protocol.go has the rest; it need not be changed.

package main

import (
	"net"
	"path/filepath"
	"time"
)

// Connects both roles: what has a name lies in request.Folder, or is called request.Name. Of the end that it gives, Send and
// Receive are measured; Close removes what was made. Stream is an end of any stream of bytes.
func open(request Request) (End, error) {
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
		if err == nil {
			return Stream{To: connection, From: connection}, nil
		}
		time.Sleep(time.Millisecond)
	}
}

func main() {
	Run(Row{
		Name: "NAME", Shape: "pair", Open: open,
		// See adapters/protocol.md of furlong for what can be claimed.
		Claims: map[string]any{"summary": "net over a UNIX socket, with Read and Write"},
	})
}
