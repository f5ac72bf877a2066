// Stands in for the module testcontainers where there is no container runtime: what a container would run is run by the words in
// RUN_IN_CONTAINER, on the ports of this machine. Only what the module for Azurite asks of it is here.
'use strict';
const { spawn } = require('node:child_process');
const net = require('node:net');

const freePort = () => new Promise((resolve) => {
  const server = net.createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address();
    server.close(() => resolve(port));
  });
});

class GenericContainer {
  constructor(image) {
    if (!image.startsWith('kyanite')) throw new Error(`not our image: ${image}`);
  }
  withEntrypoint(words) { this.entrypoint = words; return this; }
  withWaitStrategy(strategy) { this.patterns = strategy; return this; }
  withStartupTimeout(ms) { this.timeout = ms; return this; }
  withCommand(words) { this.command = words; return this; }
  withExposedPorts(...ports) { this.ports = ports; return this; }
  withEnvironment(variables) { this.environment = { ...this.environment, ...variables }; return this; }
  // In a container a port is the image's, whatever it is outside; here it is replaced where the command names it.
  async start() {
    const mapped = new Map();
    for (const port of this.ports) mapped.set(String(port), String(await freePort()));
    const words = [...JSON.parse(process.env.RUN_IN_CONTAINER), ...Object.entries(this.environment ?? {}).map(([name, value]) => `${name}=${value}`),
      ...this.entrypoint, ...this.command.map((word) => mapped.get(word) ?? word)];
    const child = spawn(words[0], words.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
    process.on('exit', () => child.kill('SIGKILL'));
    const ended = new Promise((resolve) => child.on('exit', resolve));
    let seen = '';
    const ready = new Promise((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => {
        seen += bytes;
        if (this.patterns.every((pattern) => pattern.test(seen))) resolve();
      });
      setTimeout(reject, this.timeout, new Error('too late')).unref();
      ended.then((code) => reject(new Error(`ended with ${code}: ${seen}`)));
    });
    await ready;
    return {
      getHost: () => '127.0.0.1',
      getMappedPort: (port) => Number(mapped.get(String(port))),
      stop: async () => {
        child.kill('SIGTERM');
        const code = await ended;
        if (code !== 0) throw new Error(`ended with ${code}: ${seen}`);
      },
    };
  }
}

class AbstractStartedContainer {
  constructor(started) { this.startedTestContainer = started; }
  getHost() { return this.startedTestContainer.getHost(); }
  getMappedPort(port) { return this.startedTestContainer.getMappedPort(port); }
  stop() { return this.startedTestContainer.stop(); }
}

const Wait = { forAll: (strategies) => strategies, forLogMessage: (pattern) => pattern };
module.exports = { GenericContainer, AbstractStartedContainer, Wait, getContainerPort: (port) => port, hasHostBinding: () => false };
