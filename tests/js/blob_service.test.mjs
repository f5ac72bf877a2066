// The Blob service itself: its properties, CORS, statistics, the account, and the ways an account is addressed.
import assert from 'node:assert/strict';
import { once as event } from 'node:events';
import net from 'node:net';
import { beforeEach, test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { blobServer, bytesOf, credential, once, refused, request, signedHeaders, textOf } from './blob_fixtures.mjs';
import { ACCOUNT } from './server.mjs';

const { server, service, freshContainer } = await blobServer();
const METRICS = { version: '1.0', enabled: true, includeAPIs: true, retentionPolicy: { enabled: true, days: 3 } };
const QUIET = {
  blobAnalyticsLogging: { version: '1.0', deleteProperty: false, read: false, write: false, retentionPolicy: { enabled: false } },
  hourMetrics: { version: '1.0', enabled: false, retentionPolicy: { enabled: false } },
  minuteMetrics: { version: '1.0', enabled: false, retentionPolicy: { enabled: false } },
  cors: [],
  deleteRetentionPolicy: { enabled: false },
  staticWebsite: { enabled: false },
};
const RULE = { allowedOrigins: 'http://one.example,http://two.example', allowedMethods: 'GET,PUT',
  allowedHeaders: 'x-ms-blob-type,x-ms-meta-a*', exposedHeaders: 'x-ms-meta-*', maxAgeInSeconds: 77 };

beforeEach(() => service.setProperties(QUIET));

test('properties are kept section by section', async () => {
  await service.setProperties({
    blobAnalyticsLogging: { version: '1.0', deleteProperty: true, read: true, write: false,
      retentionPolicy: { enabled: true, days: 5 } },
    hourMetrics: METRICS,
    cors: [RULE],
    deleteRetentionPolicy: { enabled: true, days: 2 },
    staticWebsite: { enabled: true, indexDocument: 'index.html', errorDocument404Path: 'error.html' },
  });
  const all = await service.getProperties();
  assert.deepEqual(all.blobAnalyticsLogging, { version: '1.0', deleteProperty: true, read: true, write: false,
    retentionPolicy: { enabled: true, days: 5 } });
  assert.deepEqual(all.hourMetrics, METRICS);
  assert.equal(all.minuteMetrics.enabled, false);
  assert.deepEqual(all.cors, [RULE]);
  assert.equal(all.deleteRetentionPolicy.days, 2);
  assert.equal(all.staticWebsite.indexDocument, 'index.html');

  await service.setProperties({ cors: [] });
  const changed = await service.getProperties();
  assert.ok(!changed.cors?.length);
  assert.deepEqual(changed.hourMetrics, METRICS);
  assert.equal(changed.deleteRetentionPolicy.enabled, true);
});

test('the default version is for those who name none', async () => {
  await service.setProperties({ defaultServiceVersion: '2019-12-12' });
  assert.equal((await service.getProperties()).defaultServiceVersion, '2019-12-12');
  const got = await request(server, 'GET', `/${ACCOUNT}/?comp=list`, { headers: { 'x-ms-version': undefined } });
  assert.equal(got.headers['x-ms-version'], '2019-12-12');
});

test('properties out of range are refused and change nothing', async () => {
  const before = await service.getProperties();
  const refusals = [
    { cors: Array(6).fill(RULE) },
    { deleteRetentionPolicy: { enabled: true, days: 0 } },
    { deleteRetentionPolicy: { enabled: true, days: 366 } },
    { deleteRetentionPolicy: { enabled: true } },
  ];
  for (const properties of refusals) {
    await assert.rejects(service.setProperties(properties), refused(400, 'InvalidXmlDocument'), JSON.stringify(properties));
  }
  const after = await service.getProperties();
  assert.deepEqual(after.cors, before.cors);
  assert.deepEqual(after.deleteRetentionPolicy, before.deleteRetentionPolicy);
});

const preflight = (origin, method, headers) => request(server, 'OPTIONS', `/${ACCOUNT}/any/blob`, {
  sign: false,
  headers: { origin, 'access-control-request-method': method,
    ...(headers && { 'access-control-request-headers': headers }) },
});

test('preflight: what a rule allows', async () => {
  await service.setProperties({ cors: [RULE] });
  const allowed = await preflight('http://one.example', 'PUT', 'x-ms-blob-type,x-ms-meta-abc');
  assert.equal(allowed.status, 200);
  assert.equal(allowed.headers['access-control-allow-origin'], 'http://one.example');
  assert.match(allowed.headers['access-control-allow-methods'], /PUT/);
  assert.match(allowed.headers['access-control-allow-headers'], /x-ms-meta-abc/);
  assert.equal(allowed.headers['access-control-max-age'], '77');
  const rows = [['http://three.example', 'PUT'], ['http://one.example', 'DELETE'],
    ['http://one.example', 'PUT', 'x-ms-version'], ['http://one.example:81', 'GET']];
  for (const row of rows) {
    const got = await preflight(...row);
    assert.equal(got.status, 403, row.join(' '));
    assert.equal(got.code ?? /<Code>(.*)<\/Code>/.exec(got.text)[1], 'CorsPreflightFailure');
    assert.equal(got.headers['access-control-allow-origin'], undefined);
  }
});

test('replies that would differ for another origin say so, also without one', async () => {
  const varies = async (headers = {}) =>
    (await request(server, 'GET', `/${ACCOUNT}/?comp=list`, { headers })).headers.vary;
  await service.setProperties({ cors: [RULE] });
  assert.equal(await varies(), 'Origin');
  assert.equal(await varies({ origin: 'http://three.example' }), 'Origin');
  await service.setProperties({ cors: [{ ...RULE, allowedOrigins: '*' }] });
  assert.equal(await varies(), undefined);
  await service.setProperties({ cors: [] });
  assert.equal(await varies(), undefined);
});

test('preflight: nothing is allowed without rules, and a request without an origin is malformed', async () => {
  assert.equal((await preflight('http://one.example', 'GET')).status, 403);
  const got = await request(server, 'OPTIONS', `/${ACCOUNT}/any/blob`, { sign: false });
  assert.equal(got.status, 400);
});

test('answers to allowed origins say so, others do not', async () => {
  await service.setProperties({ cors: [RULE, { ...RULE, allowedOrigins: '*', allowedMethods: 'HEAD' }] });
  const container = await freshContainer();
  await container.getBlockBlobClient('b').upload('x', 1, { metadata: { abc: '1' } });
  const path = `/${ACCOUNT}/${container.containerName}/b`;
  const get = (method, origin) => request(server, method, path, { headers: { origin } });
  const one = await get('GET', 'http://one.example');
  assert.equal(one.headers['access-control-allow-origin'], 'http://one.example');
  assert.match(one.headers['access-control-expose-headers'], /x-ms-meta-abc/);
  assert.equal((await get('GET', 'http://three.example')).headers['access-control-allow-origin'], undefined);
  assert.equal((await get('HEAD', 'http://three.example')).headers['access-control-allow-origin'], '*');
});

test('statistics are asked of the secondary', async () => {
  const secondary = new BlobServiceClient(`${server.blobUrl}-secondary`, credential, once);
  const { geoReplication } = await secondary.getStatistics();
  assert.equal(geoReplication.status, 'live');
  assert.ok(geoReplication.lastSyncOn instanceof Date);
  await assert.rejects(service.getStatistics(), refused(400, 'InvalidQueryParameterValue'));
});

test('the secondary reads what was written and writes nothing', async () => {
  const container = await freshContainer();
  await container.getBlockBlobClient('b').upload('hello', 5);
  const secondary = new BlobServiceClient(`${server.blobUrl}-secondary`, credential, once)
    .getContainerClient(container.containerName);
  assert.equal(await textOf(secondary.getBlobClient('b')), 'hello');
  const queried = await secondary.getBlockBlobClient('b').query('SELECT * FROM BlobStorage');
  assert.equal((await bytesOf(queried.readableStreamBody)).toString(), 'hello\n');
  const listed = [];
  for await (const item of secondary.listBlobsFlat()) listed.push(item.name);
  assert.deepEqual(listed, ['b']);
  await assert.rejects(secondary.getBlockBlobClient('b').upload('bye', 3), (error) => error.statusCode === 403);
  await assert.rejects(secondary.getBlobClient('b').delete(), (error) => error.statusCode === 403);
  assert.equal(await textOf(container.getBlobClient('b')), 'hello');
});

test('the account tells its kind', async () => {
  const { skuName, accountKind } = await service.getAccountInfo();
  assert.ok(skuName && accountKind);
  const container = await freshContainer();
  assert.equal((await container.getAccountInfo()).skuName, skuName);
});

test('the account may be in the host name', async () => {
  const { port } = new URL(server.blobUrl);
  for (const host of [`${ACCOUNT}.blob.localhost:${port}`, `${ACCOUNT}.blob.core.windows.net`]) {
    const headers = { host };
    const name = `hosted-${host.length}`;
    assert.equal((await request(server, 'PUT', `/${name}?restype=container`, { headers })).status, 201, host);
    const put = await request(server, 'PUT', `/${name}/dir/b`,
      { headers: { ...headers, 'x-ms-blob-type': 'BlockBlob' }, body: 'x' });
    assert.equal(put.status, 201);
    assert.equal(await textOf(service.getContainerClient(name).getBlobClient('dir/b')), 'x');
    const listed = await request(server, 'GET', `/${name}?restype=container&comp=list`, { headers });
    assert.match(listed.text, new RegExp(`ServiceEndpoint="http://${host}/"`));
  }
  const secondary = await request(server, 'GET', '/?comp=list', { headers: { host: `${ACCOUNT}-secondary.blob.localhost` } });
  assert.equal(secondary.status, 200);
});

test('every answer carries a request id, the version, and the id the client gave', async () => {
  const got = await request(server, 'GET', `/${ACCOUNT}/missing?restype=container`,
    { headers: { 'x-ms-client-request-id': 'my id 1' } });
  assert.equal(got.status, 404);
  assert.match(got.headers['x-ms-request-id'], /^[0-9a-f-]{36}$/);
  assert.equal(got.headers['x-ms-version'], '2025-05-05');
  assert.equal(got.headers['x-ms-client-request-id'], 'my id 1');
  assert.ok(got.headers.date);
  assert.equal(got.code, 'ContainerNotFound');
  assert.match(got.text, /^\ufeff?<\?xml version="1.0" encoding="utf-8"\?><Error><Code>ContainerNotFound<\/Code><Message>/);
});

test('a request that does not tell its length', async () => {
  const { hostname, port } = new URL(server.blobUrl);
  const path = `/${ACCOUNT}/lengthless?restype=container`;
  const lines = Object.entries(signedHeaders('PUT', path)).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = net.connect(Number(port), hostname);
  socket.write(`PUT ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\n${lines.join('')}\r\n`);
  const [reply] = await event(socket, 'data');
  socket.destroy();
  assert.match(String(reply), /^HTTP\/1\.1 411 [^]*x-ms-error-code: MissingContentLengthHeader\r\n/);
  assert.equal(await service.getContainerClient('lengthless').exists(), false);
});
