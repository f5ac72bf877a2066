// Bytes arrive as they were sent or not at all: checksums, torn bodies, streams larger than any buffer, and a server that is
// killed and started again.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { once as event } from 'node:events';
import net from 'node:net';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import {
  blobServer, contentOf, credential, namesOf, once, picture, refused, refusedUnchanged, request, signedHeaders, textOf,
} from './blob_fixtures.mjs';
import { Server } from './server.mjs';

const { server, freshContainer } = await blobServer();
const container = await freshContainer();
const MIB = 1024 * 1024;
const pathOf = (blob) => new URL(blob.url).pathname;
const md5 = (data) => crypto.createHash('md5').update(data).digest();

test('a wrong MD5 or CRC64 leaves the blob as it was', async () => {
  const blob = container.getBlockBlobClient('checked');
  await blob.upload('original', 8, { metadata: { a: 'b' } });
  const put = (headers) =>
    request(server, 'PUT', pathOf(blob), { headers: { 'x-ms-blob-type': 'BlockBlob', ...headers }, body: 'new' });
  const rows = [
    [{ 'content-md5': md5('other').toString('base64') }, 'Md5Mismatch'],
    [{ 'content-md5': 'too short' }, 'InvalidMd5'],
    [{ 'x-ms-content-crc64': Buffer.alloc(8, 1).toString('base64') }, 'Crc64Mismatch'],
    [{ 'x-ms-content-crc64': 'AAAA' }, 'InvalidHeaderValue'],
    [{ 'content-md5': md5('new').toString('base64'), 'x-ms-content-crc64': Buffer.alloc(8).toString('base64') },
      'BothCrc64AndMd5HeaderPresent'],
  ];
  const before = await picture(blob);
  for (const [headers, code] of rows) {
    const got = await put(headers);
    assert.equal(got.status, 400, code);
    assert.equal(got.code, code);
    assert.deepEqual(await picture(blob), before);
  }
  const right = await put({ 'content-md5': md5('new').toString('base64') });
  assert.equal(right.status, 201);
  assert.equal(right.headers['content-md5'], md5('new').toString('base64'));
  // What the server computed is what it accepts.
  const told = right.headers['x-ms-content-crc64'];
  assert.equal((await put({ 'x-ms-content-crc64': told })).status, 201);
});

test('both checksums are right for any length', async () => {
  const blob = container.getBlockBlobClient('lengths');
  for (const length of [1, 16 * 1024 + 1, MIB / 4, MIB / 4 + 1, MIB + 5, 5 * MIB, 9 * MIB + 100]) {
    const body = crypto.randomBytes(length);
    const put = (headers = {}) => request(server, 'PUT', pathOf(blob), { headers: { 'x-ms-blob-type': 'BlockBlob', ...headers }, body });
    const told = await put();
    assert.equal(told.headers['content-md5'], md5(body).toString('base64'), `of ${length}`);
    // The CRC-64 of a block is computed without an MD5 beside it.
    const block = await request(server, 'PUT', `${pathOf(blob)}?comp=block&blockid=AAAA`, { body });
    assert.equal(told.headers['x-ms-content-crc64'], block.headers['x-ms-content-crc64'], `of ${length}`);
    assert.equal((await put({ 'x-ms-content-crc64': told.headers['x-ms-content-crc64'] })).status, 201);
    body[length - 1] ^= 1;
    const wrong = await put({ 'x-ms-content-crc64': told.headers['x-ms-content-crc64'] });
    assert.equal(wrong.code, 'Crc64Mismatch', `of ${length}`);
  }
});

test('blocks with a wrong checksum are not staged', async () => {
  const blob = container.getBlockBlobClient('checked-blocks');
  await blob.stageBlock('AAAA', 'right', 5, { transactionalContentMD5: md5('right') });
  await assert.rejects(blob.stageBlock('BBBB', 'wrong', 5, { transactionalContentMD5: md5('right') }),
    refused(400, 'Md5Mismatch'));
  await assert.rejects(blob.stageBlock('AAAA', 'wrong', 5, { transactionalContentCrc64: new Uint8Array(8) }),
    refused(400, 'Crc64Mismatch'));
  await blob.commitBlockList(['AAAA']);
  assert.equal(await textOf(blob), 'right');
});

test('a wrong MD5 of the list or of the whole blob is refused', async () => {
  const blob = container.getBlockBlobClient('checked-whole');
  await blob.upload('original', 8);
  await refusedUnchanged(blob, 400, 'Md5Mismatch',
    () => blob.upload('new', 3, { blobHTTPHeaders: { blobContentMD5: md5('other') } }));
  const got = await request(server, 'PUT', `${pathOf(blob)}?comp=blocklist`,
    { headers: { 'content-md5': md5('other').toString('base64') }, body: '<BlockList></BlockList>' });
  assert.equal(got.code, 'Md5Mismatch');
  assert.equal(await textOf(blob), 'original');
});

// Sends the head of a request and part of its body, then cuts the connection as told.
async function tear(path, headers, sent, cut) {
  const { hostname, port } = new URL(server.blobUrl);
  const socket = net.connect(port, hostname);
  socket.on('error', () => {});
  await event(socket, 'connect');
  const lines = Object.entries({ host: `${hostname}:${port}`, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`PUT ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  await new Promise((resolve) => socket.write(sent, resolve));
  const closed = event(socket, 'close');
  if (cut === 'reset') socket.resetAndDestroy();
  else socket.end();
  socket.resume();
  await closed;
}

// A torn request is over when the server has noticed: the next request on a new connection may come before.
async function settled(check) {
  for (let i = 0; i < 5; ++i) {
    await check();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

for (const cut of ['reset', 'end']) {
  test(`a body cut off midway leaves nothing (${cut})`, async () => {
    const fresh = container.getBlockBlobClient(`torn-fresh-${cut}`);
    const existing = container.getBlockBlobClient(`torn-existing-${cut}`);
    await existing.upload('original', 8);
    const before = await picture(existing);
    for (const blob of [fresh, existing]) {
      const headers = signedHeaders('PUT', pathOf(blob), { headers: { 'x-ms-blob-type': 'BlockBlob' }, length: 3 * MIB });
      await tear(pathOf(blob), headers, Buffer.alloc(2 * MIB, 'x'), cut);
    }
    const path = `${pathOf(existing)}?comp=block&blockid=AAAA`;
    await tear(path, signedHeaders('PUT', path, { length: MIB }), Buffer.alloc(1000), cut);
    await settled(async () => {
      assert.equal(await picture(fresh), 'absent');
      assert.deepEqual(await picture(existing), before);
      assert.ok(!(await existing.getBlockList('uncommitted')).uncommittedBlocks?.length);
    });
  });
}

test('a chunked body cut off midway leaves nothing', async () => {
  const blob = container.getBlockBlobClient('torn-chunks');
  const headers = signedHeaders('PUT', pathOf(blob), { headers: { 'x-ms-blob-type': 'BlockBlob' } });
  const chunk = `1000\r\n${'x'.repeat(0x1000)}\r\n`;
  await tear(pathOf(blob), { ...headers, 'transfer-encoding': 'chunked' }, chunk + chunk, 'end');
  await settled(async () => assert.equal(await picture(blob), 'absent'));
});

// Bytes that depend on their place, so that a block lost, doubled or moved shows.
function* pattern(total, size = MIB) {
  const chunk = crypto.createHash('sha512').update('seed').digest();
  for (let offset = 0; offset < total; offset += size) {
    const part = Buffer.alloc(Math.min(size, total - offset), chunk);
    part.writeUInt32LE(offset / size, 0);
    yield part;
  }
}

test('256 MiB stream up in one request and down again', async () => {
  const total = 256 * MIB;
  const expected = crypto.createHash('sha256');
  const blob = container.getBlockBlobClient('streamed');
  const body = Readable.from((function* () {
    for (const part of pattern(total)) {
      expected.update(part);
      yield part;
    }
  })());
  await blob.upload(() => body, total);
  const got = crypto.createHash('sha256');
  let length = 0;
  const { readableStreamBody } = await blob.download();
  for await (const part of readableStreamBody) {
    got.update(part);
    length += part.length;
  }
  assert.equal(length, total);
  assert.equal(got.digest('hex'), expected.digest('hex'));
  const part = await contentOf(blob, 100 * MIB - 2, 8);
  assert.equal(part.readUInt32LE(2), 100);
  await blob.delete();
});

test('a stream of unknown length goes up in blocks', async () => {
  const total = 20 * MIB + 77;
  const blob = container.getBlockBlobClient('stream-blocks');
  await blob.uploadStream(Readable.from(pattern(total)), 4 * MIB, 3);
  assert.ok((await contentOf(blob)).equals(Buffer.concat([...pattern(total)])));
  assert.equal((await blob.getBlockList('committed')).committedBlocks.length, 6);
});

test('what was acknowledged is there after the server was killed', async () => {
  const first = await Server.start();
  const box = (url) => new BlobServiceClient(url, credential, once).getContainerClient('survives');
  await box(first.blobUrl).create({ metadata: { a: 'b' } });
  const data = crypto.randomBytes(3 * MIB);
  await box(first.blobUrl).getBlockBlobClient('small').upload('small', 5, { metadata: { c: 'd' } });
  await box(first.blobUrl).getBlockBlobClient('large').upload(data, data.length);
  await box(first.blobUrl).getBlockBlobClient('staged').stageBlock('AAAA', 'x', 1);
  const append = box(first.blobUrl).getAppendBlobClient('append');
  await append.create();
  for (let i = 0; i < 5; ++i) await append.appendBlock(`${i}`, 1);
  const page = box(first.blobUrl).getPageBlobClient('page');
  await page.create(1024);
  await page.uploadPages(Buffer.alloc(512, 3), 512, 512);
  const { snapshot } = await box(first.blobUrl).getBlobClient('small').createSnapshot();
  const leaseId = (await box(first.blobUrl).getBlobClient('small').getBlobLeaseClient().acquireLease(-1)).leaseId;
  const before = await picture(box(first.blobUrl).getBlockBlobClient('small'));
  await first.kill();

  const second = await Server.start({ location: first.location });
  second.ownsLocation = true;
  const there = box(second.blobUrl);
  assert.deepEqual((await there.getProperties()).metadata, { a: 'b' });
  assert.deepEqual(await namesOf(there.listBlobsFlat()), ['append', 'large', 'page', 'small']);
  assert.deepEqual(await picture(there.getBlockBlobClient('small')), before);
  assert.equal(await textOf(there.getBlobClient('small').withSnapshot(snapshot)), 'small');
  await assert.rejects(there.getBlobClient('small').delete(), refused(412, 'LeaseIdMissing'));
  await there.getBlobClient('small').delete({ deleteSnapshots: 'include', conditions: { leaseId } });
  assert.ok((await contentOf(there.getBlobClient('large'))).equals(data));
  assert.equal(await textOf(there.getBlobClient('append')), '01234');
  assert.ok((await contentOf(there.getBlobClient('page'), 512)).equals(Buffer.alloc(512, 3)));
  await there.getBlockBlobClient('staged').commitBlockList(['AAAA']);
  assert.equal(await textOf(there.getBlobClient('staged')), 'x');
  await second.stop();
});
