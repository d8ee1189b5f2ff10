// Tests the stamps with ../stamps.json, which furlong's own code made: node stamps_test.js.

"use strict";
const assert = require("node:assert");
const { Stamp } = require("./protocol.js");

const vectors = require("../stamps.json");
for (const { stamp: word, number, length, bytes } of vectors) {
  const stamp = new Stamp(word, length), sent = Buffer.from(bytes, "hex"), message = Buffer.alloc(length);
  stamp.writeAll(message, number);
  assert.deepStrictEqual(message, sent);
  stamp.check(sent, number);
  stamp.checkAll(sent, number);
  for (let at = 0; at < length; at++) {
    const damaged = Buffer.from(sent);
    damaged[at] ^= 0x80;
    assert.throws(() => stamp.checkAll(damaged, number), (error) => length < 8 || error.fault === "flipped");
  }
  for (const [other, fault] of [[number + 1, "lost"], [number - 1, "repeated"]]) {
    stamp.write(message, other);
    assert.throws(() => stamp.check(message, number), (error) => error.fault === fault);
  }
}
console.log(`${vectors.length} vectors`);
