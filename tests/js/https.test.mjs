// HTTPS without work: an authority of the server's own, and certificates that are read again when their files change.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, stat, writeFile } from 'node:fs/promises';
import https from 'node:https';
import path from 'node:path';
import { test } from 'node:test';
import { ACCOUNT, Server, tlsFlags } from './server.mjs';

// A connection that trusts nobody but `ca`, to the server by a name of its own choice; the reply's status and the connection.
function get(url, { ca, servername, agent = false, rejectUnauthorized = true } = {}) {
  const { port, pathname } = new URL(url);
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: `${pathname}?comp=list`, ca, servername, agent, rejectUnauthorized };
    https.get(options, (response) => {
      const { socket } = response;
      const serial = socket.getPeerCertificate().serialNumber;
      response.resume().on('end', () => resolve({ status: response.statusCode, serial, socket }));
    }).on('error', reject);
  });
}

test('one authority for all starts, trusted by its file, for loopback, account hosts and hosts given', async () => {
  let server = await Server.start({ flags: ['--https', '--httpsHost', 'box.example', '--threads', '1'] });
  const folder = path.join(server.location, 'issuer');
  const ca = await readFile(path.join(folder, 'ca.pem'), 'utf8');
  assert.match(server.output, new RegExp(`NODE_EXTRA_CA_CERTS=${folder}/ca.pem`));
  assert.equal((await stat(path.join(folder, 'authority.pem'))).mode & 0o777, 0o600);
  assert.equal(await (await fetch(`${server.adminUrl}/ca.pem`)).text(), ca);
  for (const servername of ['localhost', `${ACCOUNT}.blob.localhost`, `${ACCOUNT}.dfs.localhost`, 'box.example']) {
    assert.equal((await get(server.blobUrl, { ca, servername })).status, 404, servername);
  }
  await assert.rejects(get(server.blobUrl, { ca, servername: 'other.example' }), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  await assert.rejects(get(server.blobUrl, { servername: 'localhost' }), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
  const metrics = await (await fetch(`${server.adminUrl}/metrics`)).text();
  const days = (Number(/^kyanite_certificate_ends_seconds (\d+)$/m.exec(metrics)[1]) - Date.now() / 1000) / 86_400;
  assert.ok(days > 89 && days <= 90, `${days}`);
  // HTTP/1.1 with keep-alive, as ever.
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  const first = await get(server.blobUrl, { ca, servername: 'localhost', agent });
  const second = await get(server.blobUrl, { ca, servername: 'localhost', agent });
  assert.equal(second.socket, first.socket);
  agent.destroy();

  const location = server.location;
  server.ownsLocation = false;
  await server.stop();
  server = await Server.start({ flags: ['--https'], location });
  assert.equal(await readFile(path.join(folder, 'ca.pem'), 'utf8'), ca);
  assert.equal((await get(server.blobUrl, { ca, servername: 'localhost' })).status, 404);
  server.ownsLocation = true;
  await server.stop();
});

test('in memory the authority is fetched', async () => {
  const server = await Server.start({ flags: ['--https', '--inMemoryPersistence'] });
  const url = /curl -so ca\.pem (\S+)/.exec(server.output)[1];
  const ca = await (await fetch(url)).text();
  assert.equal((await get(server.blobUrl, { ca, servername: 'localhost' })).status, 404);
  await server.stop();
});

test('certificates that were given are read again; broken ones are not used, and that is said', async () => {
  const flags = await tlsFlags();
  const [, certificate, , key] = flags;
  const server = await Server.start({ flags });
  const original = await readFile(certificate);
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
  // Any is taken, since which one is shown is the question.
  const serialNow = async (using) => (await get(server.blobUrl, { servername: '', agent: using, rejectUnauthorized: false })).serial;
  const until = async (holds, what) => {
    const end = Date.now() + 30_000;
    while (!(await holds())) {
      assert.ok(Date.now() < end, what);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const first = await serialNow(agent);

  await writeFile(certificate, 'broken');
  await until(() => server.log.includes('the certificate of before stays in use'), 'the log says so');
  await writeFile(certificate, original);
  assert.equal(await serialNow(), first);

  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=127.0.0.1',
    '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  await until(async () => (await serialNow()) !== first, 'a new connection has the new certificate');
  assert.equal(await serialNow(agent), first); // One that was open goes on.
  agent.destroy();
  await server.stop();
});
