// The row NAME: messages through a UNIX socket, as a beginning. protocol.js has the rest; it need not be changed.

"use strict";
const net = require("node:net");
const path = require("node:path");
const { End, Failure, run } = require("./protocol.js");

// Only what an end does is measured: `send`, and what leads to `deliver`.
class SocketEnd extends End {
  constructor(socket, { ownSize, otherSize, pattern }) {
    super();
    this.socket = socket;
    // One way, so many messages may be under way in Node's own buffer, and must stay as they are.
    if (pattern === "one-way") this.slots = Math.ceil(socket.writableHighWaterMark / ownSize) + 2;
    const message = Buffer.alloc(otherSize);
    let have = 0;
    socket.on("data", (chunk) => {
      for (let at = 0; at < chunk.length; ) {
        const taken = chunk.copy(message, have, at);
        at += taken;
        have += taken;
        if (have === otherSize) {
          have = 0;
          this.deliver(message);
        }
      }
    });
    socket.on("drain", () => this.drained());
    socket.on("error", (error) => this.fail(error));
    socket.on("end", () => this.fail(new Failure("error", "the peer has disconnected")));
  }

  // Gives false if the next message must wait for `drained`.
  send(message) {
    return this.socket.write(message);
  }

  // Removes what was made.
  async close() {
    this.socket.destroy();
  }
}

function accept(name) {
  return new Promise((resolve, reject) => {
    const server = net.createServer((socket) => {
      // Removes the name, too.
      server.close();
      resolve(socket);
    });
    server.on("error", reject);
    server.listen(name);
  });
}

// Tries until the other end listens.
async function connect(name) {
  for (;;) {
    const socket = net.connect(name);
    const connected = await new Promise((resolve) => {
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    });
    if (connected) return socket;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

run({
  name: "NAME",
  shape: "pair",
  // See adapters/protocol.md of furlong for what can be claimed.
  claims: { summary: "a UNIX socket, with write and the event data" },
  // Connects both roles: what has a name lies in setUp.folder, or is called setUp.name.
  async open(setUp) {
    const name = path.join(setUp.folder, "socket");
    return new SocketEnd(await (setUp.role === "responder" ? accept(name) : connect(name)), setUp);
  },
});
