// Rows of what Node's own library has: fork's channel, and a UNIX socket.

"use strict";
const { fork } = require("node:child_process");
const net = require("node:net");
const path = require("node:path");
const { End, Failure, SetUp, respond, run } = require("./protocol.js");

// Gives back what it was given. Messages come in turns of their own, as from any other end.
class NullEnd extends End {
  constructor(size) {
    super();
    this.held = Buffer.alloc(size);
    this.received = Buffer.alloc(size);
    this.pending = this.running = false;
  }

  send(message) {
    message.copy(this.held);
    this.pending = true;
    if (!this.running) {
      this.running = true;
      setImmediate(() => this.turn());
    }
    return true;
  }

  turn() {
    while (this.pending && !this.failed) {
      this.pending = false;
      this.held.copy(this.received);
      this.deliver(this.received);
    }
    this.running = false;
  }
}

// A stream of bytes, cut into messages of one size.
class SocketEnd extends End {
  constructor(socket, { ownSize, otherSize, pattern }) {
    super();
    this.socket = socket;
    // What has not been drained may still be read by the kernel.
    if (pattern === "one-way") this.slots = Math.ceil(socket.writableHighWaterMark / ownSize) + 2;
    const partial = Buffer.alloc(otherSize);
    let have = 0;
    socket.on("data", (chunk) => {
      if (have === 0 && chunk.length === otherSize) {
        this.deliver(chunk);
        return;
      }
      for (let at = 0; at < chunk.length; ) {
        const taken = chunk.copy(partial, have, at);
        at += taken;
        have += taken;
        if (have === otherSize) {
          have = 0;
          this.deliver(partial);
        }
      }
    });
    socket.on("drain", () => this.drained());
    socket.on("error", (error) => this.fail(error));
    socket.on("end", () => this.fail(new Failure("error", "the peer has disconnected")));
  }

  send(message) {
    return this.socket.write(message);
  }

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
function connect(name) {
  return new Promise((resolve, reject) => {
    const attempt = () => {
      const socket = net.connect(name);
      const failed = (error) => {
        if (error.code === "ENOENT" || error.code === "ECONNREFUSED") setTimeout(attempt, 2);
        else reject(error);
      };
      socket.once("error", failed);
      socket.once("connect", () => {
        socket.off("error", failed);
        resolve(socket);
      });
    };
    attempt();
  });
}

// One way, so many messages may be on their way into the channel: it takes any number, and the memory does not.
const MOST_SENDING = 64;

// The channel between a process and what it has forked. JSON has no bytes: a message is base64 there.
class ChannelEnd extends End {
  constructor(channel, { pattern, otherSize }, serialization) {
    super();
    this.channel = channel;
    this.said = [];
    this.listener = null;
    this.sending = 0;
    const json = serialization === "json", received = Buffer.alloc(otherSize);
    const encode = json ? (message) => message.toString("base64") : (message) => message;
    const decode = (text) => {
      if (Buffer.byteLength(text, "base64") !== otherSize) return Buffer.from(text, "base64");
      received.write(text, "base64");
      return received;
    };
    channel.on("message", json
      ? (message) => (typeof message === "string" ? this.deliver(decode(message)) : this.take(message))
      : (message) => (message instanceof Uint8Array ? this.deliver(message) : this.take(message)));
    channel.on("error", (error) => this.fail(error));
    const sent = () => {
      this.sending--;
      if (this.sending === 0) this.drained();
    };
    this.send = pattern === "one-way"
      ? (message) => {
        channel.send(encode(message), sent);
        return ++this.sending < MOST_SENDING;
      }
      : (message) => channel.send(encode(message));
  }

  // What is no message of the exchange.
  take(said) {
    if (this.listener) this.listener(said);
    else this.said.push(said);
  }

  async hear() {
    if (this.said.length > 0) return this.said.shift();
    return new Promise((resolve) => {
      this.listener = (said) => {
        this.listener = null;
        resolve(said);
      };
    });
  }

  ask(request) {
    this.channel.send(request);
    return this.hear();
  }
}

// The initiator's end: the child is the responder.
class ParentEnd extends ChannelEnd {
  static async open(serialization, setUp, request) {
    const child = fork(__filename, ["peer", serialization], { serialization });
    const end = new ParentEnd(child, setUp, serialization);
    end.ended = new Promise((resolve) => child.once("exit", resolve));
    end.ended.then(() => {
      const gone = new Failure("error", "the responder is gone");
      end.fail(gone);
      end.take({ fault: gone.fault, detail: gone.message });
    });
    end.processes = [{ pid: child.pid, role: "responder" }];
    process.on("SIGTERM", async () => {
      await end.close();
      process.exit(143);
    });
    await end.ask(request);
    return end;
  }

  async close() {
    this.channel.kill("SIGKILL");
    await this.ended;
  }
}

// In the child: the responder.
function peer(serialization) {
  process.once("message", (request) => {
    const setUp = new SetUp(request, "responder");
    const end = new ChannelEnd(process, setUp, serialization);
    const answer = respond(setUp, end, (said) => process.send(said));
    const next = (request) => {
      end.listener = next;
      answer(request);
    };
    end.listener = next;
    process.send({ open: true });
  });
  process.on("disconnect", () => process.exit(0));
}

const ROWS = {
  "null": {
    shape: "self",
    claims: {
      summary: "Node's loop without a mechanism: the message is copied into private memory and out again",
      waits: ["spin"],
      when_full: "overwrites",
      peer_death: "unnoticed",
      reach: "fork",
      alone: true,
    },
    open: async ({ ownSize }) => new NullEnd(ownSize),
  },
  "fork-json": {
    shape: "self",
    claims: {
      summary: "child_process.fork with its usual serialisation, JSON: a message is base64 in a string",
      reach: "fork",
    },
    open: (setUp, request) => ParentEnd.open("json", setUp, request),
  },
  "fork-advanced": {
    shape: "self",
    claims: {
      summary: "child_process.fork with advanced serialisation, the structured clone: a message is a Buffer",
      reach: "fork",
    },
    open: (setUp, request) => ParentEnd.open("advanced", setUp, request),
  },
  "unix-socket": {
    shape: "pair",
    claims: { summary: "node:net over a UNIX socket, with write and the event data" },
    async open(setUp) {
      const name = path.join(setUp.folder, "socket");
      return new SocketEnd(await (setUp.role === "responder" ? accept(name) : connect(name)), setUp);
    },
  },
};

const [what, serialization] = process.argv.slice(2);
if (what === "peer") peer(serialization);
else run({ name: `node-${what}`, ...ROWS[what] });
