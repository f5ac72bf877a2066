// Runs the program of this package under the name it was called by, and is as if it were that program: the same words, the same
// streams, the same signals, the same end.
'use strict';

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const LEAST_GLIBC = '2.36';
// A terminal and npx both pass one Ctrl-C on; a second signal is meant to be one only when it comes later than this.
const SAME_SIGNAL_MS = 500;
const PARENT_GONE_MS = 250; // How soon it is noticed.

const older = (version, least) => {
  const [major, minor] = version.split('.').map(Number);
  const [leastMajor, leastMinor] = least.split('.').map(Number);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
};

// Why the program cannot run here, in a sentence; nothing if it can. `header` is that of Node.js's report on its process.
function obstacle({ platform, arch, header, exists }) {
  if (platform !== 'linux') return `there is no program for ${platform}, only for Linux: use the container image there`;
  if (!exists(program(arch))) return `there is no program for the processor ${arch} in this package`;
  const glibc = header.glibcVersionRuntime;
  if (!glibc) return `this Linux has no glibc (Alpine, for one, has musl), and Kyanite needs glibc ${LEAST_GLIBC} or later: use the container image here`;
  if (older(glibc, LEAST_GLIBC)) return `this Linux has glibc ${glibc}, and Kyanite needs ${LEAST_GLIBC} or later (Debian 12, Ubuntu 23.04 and newer): use the container image here`;
  return undefined;
}

const program = (arch) => path.join(__dirname, `linux-${arch}`, 'kyanite');

// npx starts a shell that starts this, and passes signals on to that shell at most. All that is seen of them here is that one of both is
// gone. Elsewhere that says nothing: who is started in the background outlives its shell.
function isRunByNpx(name, env) {
  const [command] = (env.npm_lifecycle_script ?? '').split(' ');
  return env.npm_lifecycle_event === 'npx' && !env.npm_config_call && command.replace(/['"]/g, '') === name;
}

// What has started this one: numbers of processes up to that of npx, or to `most` of them.
function parents(most) {
  const found = [];
  for (let pid = process.ppid; found.push(pid) < most; ) {
    try {
      const [, name, parent] = /\((.*)\) \S (\d+)/s.exec(fs.readFileSync(`/proc/${pid}/stat`, 'latin1'));
      if (name.startsWith('npm')) break;
      pid = Number(parent);
    } catch {
      break; // It has ended meanwhile.
    }
  }
  return found;
}

// Calls `gone` once when npx or its shell has ended.
function watchNpx(gone) {
  const before = parents(3);
  // Without npx among them, as far as one can see, the others may be anybody.
  if (before.length === 3) before.length = 1;
  const timer = setInterval(() => {
    if (String(parents(before.length)) === String(before)) return;
    clearInterval(timer);
    gone();
  }, PARENT_GONE_MS);
  timer.unref();
}

function run(name) {
  const { header } = process.report.getReport();
  const why = obstacle({ platform: process.platform, arch: process.arch, header, exists: fs.existsSync });
  if (why) {
    console.error(`${name}: ${why}.`);
    process.exit(1);
  }
  // In a group of its own, so that it gets each signal once: from here. Should this be killed, the kernel tells it (--parent).
  const env = { ...process.env, KYANITE_PARENT: String(process.pid) };
  const child = spawn(program(process.arch), process.argv.slice(2), { argv0: name, stdio: 'inherit', detached: true, env });
  let last = 0;
  const pass = (signal) => {
    if (Date.now() - last > SAME_SIGNAL_MS) child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
    last = Date.now();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => pass(signal));
  if (isRunByNpx(name, process.env)) watchNpx(() => last === 0 && pass('SIGTERM'));
  child.on('error', (error) => {
    console.error(`${name}: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + require('node:os').constants.signals[signal];
  });
}

module.exports = { run, obstacle };
