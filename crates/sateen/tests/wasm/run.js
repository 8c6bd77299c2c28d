// Runs the cases of a module: node run.js MODULE
const fs = require("fs");
const module_ = new WebAssembly.Module(fs.readFileSync(process.argv[2]));
const start = () => new WebAssembly.Instance(module_, {}).exports;
let failed = 0;
for (let i = 0; i < start().cases(); i++) {
  const wasm = start();
  const text = (at, bytes) =>
    new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, at, bytes));
  const name = text(wasm.name(i), wasm.name_len(i));
  try {
    wasm.run(i);
    console.log(`ok ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}: ${text(wasm.message(), wasm.message_len())}`);
  }
}
try {
  start().wait_for_nobody();
  failed += 1;
  console.log("FAILED a wait for nobody returns");
} catch (error) {
  console.log(`ok a wait for nobody traps (${error})`);
}
process.exit(failed ? 1 : 0);
