// furlong's adapter protocol, version 1: the conversation, the stamps and the loops.
//
// A program gives `run` its row:
//
//     { name: "mine",                          as in the manifest
//       shape: "pair",                         or "self": `open` starts the responder, which calls `respond`
//       claims: { summary: "..." },
//       async open(setUp) { return end; } }    connected when it returns
//
// What `open` gives is an `End` with `send(message)`, which gives false if the sender must wait until the end calls
// `drained()`. It calls `deliver(message)` with each message that came, whole; its bytes need not stay after that.
// The end of the shape "self" also has `ask(request)` and `hear()`, which give what the responder says, and `processes`.

"use strict";
const fs = require("node:fs");
const net = require("node:net");

const now = process.hrtime.bigint;
// How far a number may be off and still count as another message's rather than as damage.
const NEAR = 64;

// What the protocol calls an error: a fault by its name, and the detail that the row shows.
class Failure extends Error {
  constructor(fault, detail) {
    super(detail);
    this.fault = fault;
  }
}

// 64-bit words are halves of 32 bits here: BigInt would take a microsecond for each.
let productHigh = 0;
let productLow = 0;

function multiply(high, low, byHigh, byLow) {
  const a0 = low & 0xffff, a1 = low >>> 16, b0 = byLow & 0xffff, b1 = byLow >>> 16;
  const ab = a0 * b1, ba = a1 * b0;
  const middle = ((a0 * b0) >>> 16) + (ab & 0xffff) + (ba & 0xffff);
  const carried = a1 * b1 + (ab >>> 16) + (ba >>> 16) + (middle >>> 16);
  productHigh = (carried + Math.imul(high, byLow) + Math.imul(low, byHigh)) | 0;
  productLow = Math.imul(low, byLow);
}

// What the messages of one direction carry.
class Stamp {
  constructor(word, size) {
    this.size = size;
    this.high = parseInt(word.slice(0, 8), 16) | 0;
    this.low = parseInt(word.slice(8), 16) | 0;
    // Rotated left by 17 bits.
    this.turnedHigh = (this.high << 17) | (this.low >>> 15);
    this.turnedLow = (this.low << 17) | (this.high >>> 15);
    this.scratch = Buffer.alloc(8);
    this.sent = null;
  }

  head(number) {
    this.scratch.writeInt32LE(number | 0, 0);
    this.scratch.writeInt32LE(number ^ this.high, 4);
    return this.scratch;
  }

  // Writes head and end.
  write(message, number) {
    const size = this.size;
    if (size < 8) {
      this.head(number).copy(message);
      return;
    }
    message.writeInt32LE(number | 0, 0);
    message.writeInt32LE(number ^ this.high, 4);
    if (size >= 16) {
      message.writeInt32LE(number ^ this.turnedLow, size - 8);
      message.writeInt32LE(this.turnedHigh, size - 4);
    }
  }

  // Writes every byte.
  writeAll(message, number) {
    const keyHigh = (this.high + number) | 0, whole = this.size - (this.size % 8);
    let stepHigh = 0, stepLow = 0;
    for (let at = 0; at < this.size; at += 8) {
      let high = keyHigh ^ stepHigh, low = this.low ^ stepLow;
      low ^= (low >>> 30) | (high << 2);
      high ^= high >>> 30;
      multiply(high, low, 0xbf58476d, 0x1ce4e5b9);
      low = productLow ^ ((productLow >>> 27) | (productHigh << 5));
      high = productHigh ^ (productHigh >>> 27);
      multiply(high, low, 0x94d049bb, 0x133111eb);
      low = productLow ^ ((productLow >>> 31) | (productHigh << 1));
      high = productHigh ^ (productHigh >>> 31);
      const to = at < whole ? message : this.scratch, from = at < whole ? at : 0;
      to.writeInt32LE(low, from);
      to.writeInt32LE(high, from + 4);
      const sum = (stepLow >>> 0) + 0x7f4a7c15;
      stepLow = sum | 0;
      stepHigh = (stepHigh + 0x9e3779b9 + (sum > 0xffffffff ? 1 : 0)) | 0;
    }
    this.scratch.copy(message, whole, 0, this.size - whole);
    this.write(message, number);
  }

  // Whether length, head and end are those of the message with this number.
  holds(message, number) {
    const size = this.size;
    if (message.length !== size) return false;
    if (size < 8) return this.head(number).compare(message, 0, size, 0, size) === 0;
    return message.readInt32LE(0) === (number | 0) && message.readInt32LE(4) === (number ^ this.high) &&
      (size < 16 || (message.readInt32LE(size - 8) === (number ^ this.turnedLow) &&
        message.readInt32LE(size - 4) === this.turnedHigh));
  }

  check(message, number) {
    if (!this.holds(message, number)) throw this.explain(message, number);
  }

  checkAll(message, number) {
    this.check(message, number);
    this.sent ??= Buffer.alloc(this.size);
    this.writeAll(this.sent, number);
    if (this.sent.compare(message) !== 0) throw this.flipped(message, this.sent, number);
  }

  // What happened to a message that is not the one with this number.
  explain(message, number) {
    const size = this.size, head = Math.min(8, size);
    if (message.length !== size) {
      return new Failure("truncated", `message ${number} has ${message.length} bytes instead of ${size}`);
    }
    for (let off = 1; off <= NEAR; off++) {
      for (const found of [number - off, number + off]) {
        if (this.head(found).compare(message, 0, head, 0, head) !== 0) continue;
        return found > number
          ? new Failure("lost", `message ${found} arrived instead of ${number}, which was lost`)
          : new Failure("repeated", `message ${found} arrived again instead of ${number}`);
      }
    }
    const sent = Buffer.from(message);
    this.write(sent, number);
    return this.flipped(message, sent, number);
  }

  flipped(message, sent, number) {
    const at = sent.findIndex((byte, at) => byte !== message[at]);
    return new Failure("flipped", `message ${number} differs from the sent message, first at byte ${at}`);
  }
}

// What furlong asks for, seen from one role.
class SetUp {
  constructor(request, role, alone = false) {
    Object.assign(this, { role, pattern: request.pattern, wait: request.wait, folder: request.folder, name: request.name });
    const own = role === "responder" ? 1 : 0, other = alone ? own : 1 - own;
    this.ownSize = request.sizes_bytes[own];
    this.otherSize = request.sizes_bytes[other];
    this.own = new Stamp(request.stamps[own], this.ownSize);
    this.other = new Stamp(request.stamps[other], this.otherSize);
  }
}

// What the ends of all rows have in common.
class End {
  constructor() {
    this.onmessage = null;
    this.ondrained = null;
    this.onfailure = null;
    this.early = [];
    this.failed = null;
    // How many messages may be under way whose bytes must stay. In a round trip it is the one before.
    this.slots = 2;
  }

  deliver(message) {
    if (this.onmessage === null) {
      this.early.push(Buffer.from(message));
      return;
    }
    try {
      this.onmessage(message);
    } catch (error) {
      this.fail(error);
    }
  }

  drained() {
    this.ondrained?.();
  }

  fail(error) {
    this.failed = error;
    this.onfailure?.(error);
  }

  async close() {}
}

// One end and its messages.
class Role {
  constructor(setUp, end) {
    Object.assign(this, { setUp, end, done: 0, readings: [], taken: 0 });
    this.messages = Array.from({ length: end.slots }, () => Buffer.alloc(setUp.ownSize));
    this.slot = 0;
  }

  // Exchanges messages and gives how many of those received were verified.
  async exchange({ messages, batch, verify }) {
    const { end, setUp: { role, pattern, own, other } } = this;
    const oneWay = pattern === "one-way", reads = role !== "responder" || oneWay;
    this.stamp = verify ? own.writeAll.bind(own) : own.write.bind(own);
    this.check = verify ? other.checkAll.bind(other) : other.check.bind(other);
    this.number = this.done + 1;
    this.last = this.done + messages;
    this.batch = batch > 0 && reads ? batch : 0;
    const room = this.batch ? (oneWay && role === "initiator" ? 1 : Math.floor(messages / batch) + 1) : 0;
    this.readings = new BigInt64Array(room);
    this.taken = 0;
    const loops = oneWay
      ? { initiator: this.sendAll, responder: this.receiveAll, both: this.sendAndReceive }
      : { initiator: this.initiate, responder: this.respond, both: this.initiate };
    try {
      await new Promise((resolve, reject) => {
        end.onfailure = reject;
        this.finish = resolve;
        if (end.failed) throw end.failed;
        loops[role].call(this);
        for (const message of end.early.splice(0)) end.deliver(message);
      });
    } finally {
      end.onmessage = end.ondrained = end.onfailure = null;
    }
    this.done = this.last;
    this.readings = this.readings.subarray(0, this.taken);
    return verify && !(oneWay && role === "initiator") ? messages : 0;
  }

  // The message to be sent next: another one than the last, which may still be under way.
  next() {
    this.slot = this.slot + 1 === this.messages.length ? 0 : this.slot + 1;
    return this.messages[this.slot];
  }

  read() {
    this.readings[this.taken++] = now();
  }

  initiate() {
    const { end, stamp, check, last, batch } = this;
    let number = this.number, outgoing = this.next(), inBatch = 0;
    stamp(outgoing, number);
    end.onmessage = (received) => {
      if (++inBatch === batch) {
        this.read();
        inBatch = 0;
      }
      if (number === last) {
        check(received, number);
        this.finish();
        return;
      }
      end.send(outgoing);
      check(received, number++);
      stamp(outgoing = this.next(), number + 1);
    };
    if (batch) this.read();
    end.send(outgoing);
    stamp(outgoing = this.next(), number + 1);
  }

  respond() {
    const { end, stamp, check, last } = this;
    let number = this.number, outgoing = this.next();
    stamp(outgoing, number);
    end.onmessage = (received) => {
      end.send(outgoing);
      check(received, number);
      if (number++ === last) {
        this.finish();
        return;
      }
      stamp(outgoing = this.next(), number);
    };
  }

  sendAll() {
    const { end, stamp, last } = this;
    let number = this.number;
    const go = () => {
      while (number <= last) {
        const message = this.next();
        stamp(message, number++);
        if (!end.send(message)) return;
      }
      this.finish();
    };
    end.ondrained = go;
    if (this.batch) this.read();
    go();
  }

  receiveAll() {
    const { end, check, last, batch } = this;
    let number = this.number, inBatch = 0;
    end.onmessage = (received) => {
      check(received, number);
      if (++inBatch === batch) {
        this.read();
        inBatch = 0;
      }
      if (number++ === last) this.finish();
    };
  }

  sendAndReceive() {
    const { end, stamp, check, last, batch } = this;
    let number = this.number, inBatch = 0;
    const sendNext = () => {
      const message = this.next();
      stamp(message, number);
      end.send(message);
    };
    end.onmessage = (received) => {
      check(received, number);
      if (++inBatch === batch) {
        this.read();
        inBatch = 0;
      }
      if (number++ === last) this.finish();
      else sendNext();
    };
    if (batch) this.read();
    sendNext();
  }
}

// The responder of a row of the shape "self", in the process that the row has started. Gives what takes a request of the
// other process and answers it by `say`.
function respond(setUp, end, say) {
  const role = new Role(setUp, end);
  return async (request) => {
    if (request.op === "readings") {
      say({ readings: Array.from(role.readings, String) });
      return;
    }
    const exchanged = role.exchange(request);
    say({ begins: true });
    try {
      say({ verified: await exchanged });
    } catch (error) {
      say({ fault: error.fault ?? "error", detail: error.message });
    }
  };
}

// The one role of a program: of a pair, or of a row that is alone.
class OneRole {
  static async open(row, request) {
    const alone = row.claims.alone ?? false, setUp = new SetUp(request, alone ? "both" : request.role, alone);
    const work = new OneRole();
    work.end = await row.open(setUp);
    work.role = new Role(setUp, work.end);
    return work;
  }

  exchange(request) {
    return this.role.exchange(request);
  }

  async readings() {
    return this.role.readings;
  }
}

// The initiator here, and the responder in a process that the row has started.
class BothRoles {
  static async open(row, request) {
    const setUp = new SetUp(request, "initiator");
    const work = new BothRoles();
    work.end = await row.open(setUp, request);
    work.role = new Role(setUp, work.end);
    return work;
  }

  async ask(request) {
    const said = await this.end.ask(request);
    if (said.fault) throw new Failure(said.fault, said.detail);
    return said;
  }

  async exchange(request) {
    await this.ask(request);
    const failure = ({ fault, detail }) => new Failure(fault, detail);
    const theirs = this.end.hear().then((said) => {
      // The message that this end waits for may never come.
      if (said.fault) this.end.fail(failure(said));
      return said;
    });
    const verified = await this.role.exchange(request), said = await theirs;
    if (said.fault) throw failure(said);
    return verified + said.verified;
  }

  async readings() {
    const theirs = await this.ask({ op: "readings" });
    return [...this.role.readings, ...theirs.readings];
  }
}

function refuse(request, { waits, patterns, max_size_bytes: largest }) {
  const unsupported = (detail) => new Failure("unsupported", detail);
  if (!waits.includes(request.wait)) throw unsupported(`it cannot wait by ${request.wait}`);
  if (!patterns.includes(request.pattern)) throw unsupported(`it has no pattern ${request.pattern}`);
  if (Math.min(...request.sizes_bytes) < 1) throw unsupported("a message has at least one byte");
  if (largest && Math.max(...request.sizes_bytes) > largest) {
    throw unsupported(`its messages have at most ${largest} bytes`);
  }
}

// Answers furlong's requests until there are no more.
function run(row) {
  const claims = { waits: ["block"], patterns: ["round-trip", "one-way", "request"], ...row.claims };
  let work = null;

  async function answer(request) {
    const { op } = request;
    switch (op) {
      case "hello": {
        const versions = { Node: process.versions.node, V8: process.versions.v8 };
        const about = { name: row.name, versions, shape: row.shape, claims };
        return { op, protocol: 1, clock_ns: now(), ...about };
      }
      case "set-up": {
        refuse(request, claims);
        const { pattern, wait, sizes_bytes } = request;
        work = await (row.shape === "self" && !claims.alone ? BothRoles : OneRole).open(row, request);
        return { op: "ready", effective: { pattern, wait, sizes_bytes }, processes: work.end.processes ?? [] };
      }
      case "exchange": {
        if (!work) throw new Failure("error", "nothing is set up");
        const verified = await work.exchange(request);
        return { op: "exchanged", messages: request.messages, verified };
      }
      case "readings":
        return { op, clock_ns: work ? [...(await work.readings())] : [] };
      case "finish":
        await work?.end.close();
        return { op: "finished" };
      default:
        throw new Failure("unsupported", `the request ${op} is unknown`);
    }
  }

  const replies = fs.openSync(process.env.FURLONG_WRITE, "w");
  function reply({ clock_ns: clock, ...what }) {
    // A reading may be more than a number holds exactly, so it is written apart.
    const text = JSON.stringify(what).slice(0, -1);
    const readings = Array.isArray(clock) ? `[${clock}]` : clock;
    const line = Buffer.from(text + (clock === undefined ? "}\n" : `,"clock_ns":${readings}}\n`));
    for (let at = 0; at < line.length; ) at += fs.writeSync(replies, line, at);
  }

  let rest = "", answered = Promise.resolve();
  const requests = new net.Socket({ fd: fs.openSync(process.env.FURLONG_READ, "r"), readable: true, writable: false });
  requests.setEncoding("utf8");
  requests.on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      answered = answered.then(async () => {
        const request = JSON.parse(line);
        try {
          reply(await answer(request));
        } catch (error) {
          reply({ op: "error", fault: error.fault ?? "error", detail: error.message });
          // The other role may wait for a message that never comes.
          await work?.end.close();
          work = null;
        }
        if (request.op === "finish") process.exit(0);
      });
    }
  });
  requests.on("end", async () => {
    await work?.end.close();
    process.exit(0);
  });
}

module.exports = { End, Failure, SetUp, Stamp, respond, run };
