// Starts a Kyanite of its own for a test file, on ports the system chooses and data that vanishes with it.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
export const binary = process.env.KYANITE_BINARY ?? path.join(root, 'build/release/kyanite');

// Such builds are many times slower; see CMakePresets.json for the folders.
export const sanitized = /\/(asan-ubsan|tsan)\/kyanite$/.test(binary);

// Sanitizer builds start slowly on a loaded machine.
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 60_000;

export const ACCOUNT = 'devstoreaccount1';
export const KEY =
  'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';

// A test that fails midway leaves its server behind: it must neither keep this process alive nor outlive it.
const running = new Set();
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')));

// Every port is the system's choice, so that any number of servers run side by side.
export const FREE_PORTS = ['blob', 'queue', 'table', 'file', 'smb', 'admin'].flatMap((name) => [`--${name}Port`, '0']);

export class Server {
  // Flags are added to those that set ports and location; env to this process's environment. Pass `location` to serve data
  // that another server left; it is then not removed.
  static async start({ flags = [], env = {}, location } = {}) {
    const server = new Server();
    server.ownsLocation = !location && !flags.includes('--inMemoryPersistence');
    if (server.ownsLocation) location = await mkdtemp(path.join(tmpdir(), 'kyanite-test-'));
    server.location = location;
    const where = location ? ['--location', location] : [];
    server.process = spawn(binary, [...FREE_PORTS, ...where, ...flags], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    server.exited = new Promise((resolve) => {
      server.process.on('exit', (code, signal) => resolve({ code, signal }));
      server.process.on('error', (error) => resolve({ code: -1, signal: String(error) }));
    });
    running.add(server.process);
    server.exited.then(() => running.delete(server.process));
    server.process.stderr.on('data', (bytes) => (server.log += bytes));
    await server.#ready();
    for (const handle of [server.process, server.process.stdout, server.process.stderr]) handle.unref();
    return server;
  }

  // As start(), and stops after all tests of the file.
  static async forThisFile(options) {
    const server = await Server.start(options);
    after(() => server.stop());
    return server;
  }

  log = ''; // standard error so far
  output = ''; // standard output so far

  async #ready() {
    const ready = new Promise((resolve) => {
      this.process.stdout.on('data', (bytes) => {
        this.output += bytes;
        if (this.output.includes('\nReady.')) resolve('ready');
      });
    });
    const late = new Promise((resolve) => setTimeout(resolve, START_TIMEOUT_MS, 'late').unref());
    const outcome = await Promise.race([ready, late, this.exited.then(() => 'exited')]);
    if (outcome !== 'ready') {
      this.process.kill('SIGKILL');
      await this.#removeLocation();
      throw new Error(`kyanite did not start (${outcome}): ${this.output}${this.log}`);
    }
    this.connectionString = /^ {2}(DefaultEndpointsProtocol=.*)$/m.exec(this.output)?.[1];
  }

  // "http://127.0.0.1:PORT/devstoreaccount1" of 'Blob', 'Queue', 'Table' or 'File'; undefined when it is not served.
  url(label) {
    return new RegExp(`^ {2}${label} +(https?://\\S+)`, 'm').exec(this.output)?.[1];
  }

  get blobUrl() {
    return this.url('Blob');
  }

  get adminUrl() {
    return this.url('Admin');
  }

  get pid() {
    return this.process.pid;
  }

  // An orderly end; a server that crashed, hung or leaked (under a sanitizer) fails the test here.
  async stop() {
    this.process.ref();
    this.process.kill('SIGTERM');
    const late = new Promise((resolve) =>
      setTimeout(resolve, STOP_TIMEOUT_MS, { code: 'still running' }).unref(),
    );
    const { code, signal } = await Promise.race([this.exited, late]);
    this.process.kill('SIGKILL');
    await this.#removeLocation();
    assert.equal(code, 0, `kyanite ended with ${code ?? signal}: ${this.log.slice(-4000)}`);
  }

  // As a power cut for the process: nothing is flushed or said. The location stays.
  async kill() {
    this.process.ref();
    this.process.kill('SIGKILL');
    await this.exited;
  }

  async #removeLocation() {
    if (this.ownsLocation) await rm(this.location, { recursive: true, force: true });
  }
}

// Flags that make a server speak TLS with a certificate of its own, which vanishes after the tests of the file. Clients of this
// process then trust every certificate.
export async function tlsFlags() {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  const folder = await mkdtemp(path.join(tmpdir(), 'kyanite-cert-'));
  after(() => rm(folder, { recursive: true }));
  const [certificate, privateKey] = ['cert.pem', 'key.pem'].map((name) => path.join(folder, name));
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=127.0.0.1',
    '-keyout', privateKey, '-out', certificate], { stdio: 'ignore' });
  return ['--cert', certificate, '--key', privateKey];
}

// Runs the binary to its end, for what it prints or refuses.
export async function run(flags, env = {}) {
  const child = spawn(binary, flags, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  child.stdout.on('data', (bytes) => (output += bytes));
  child.stderr.on('data', (bytes) => (errors += bytes));
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { code, output, errors };
}
