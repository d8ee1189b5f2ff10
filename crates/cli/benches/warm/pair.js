// Round trips between a Node process and the one that it forks: base64 of 128 bytes as JSON. Prints the median in nanoseconds.
// node pair.js CPU CPU: the CPUs of both, or - to leave them to the scheduler.
const { fork, execFileSync } = require("node:child_process");
const [cpu, otherCpu] = process.argv.slice(2);
const held = Buffer.alloc(128);
if (cpu === "child") {
  process.on("message", (text) => {
    held.write(text, "base64");
    process.send(held.toString("base64"));
  });
} else {
  const bind = (cpu, pid) => cpu === "-" || execFileSync("taskset", ["-acp", cpu, pid], { stdio: "ignore" });
  const child = fork(__filename, ["child"]), times = [];
  bind(cpu, process.pid);
  bind(otherCpu, child.pid);
  const begin = process.hrtime.bigint();
  let last = begin;
  child.on("message", (text) => {
    const now = process.hrtime.bigint();
    held.write(text, "base64");
    if (now - begin > 1_500_000_000n) times.push(Number(now - last));
    if (now - begin > 1_700_000_000n) {
      child.kill();
      console.log(times.sort((a, b) => a - b)[times.length >> 1]);
      return;
    }
    last = now;
    child.send(held.toString("base64"));
  });
  child.send(held.toString("base64"));
}
