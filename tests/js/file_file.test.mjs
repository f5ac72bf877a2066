// Files through the SDK: creation, download, properties, metadata, attributes, deletion.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { bytesOf, contentOf, fileServer, fileWith, hash, MIB, refused, request, rootOf, textOf } from './file_fixtures.mjs';

const { server, service, freshShare } = await fileServer();
const share = await freshShare();
let counter = 0;
const fresh = () => rootOf(share).getFileClient(`file-${counter++}`);

test('a file is created, written, read and deleted', async () => {
  const file = fresh();
  assert.equal(await file.exists(), false);
  const created = await file.create(11, { metadata: { colour: 'blue' }, fileHttpHeaders: { fileContentType: 'text/plain',
    fileCacheControl: 'no-cache', fileContentEncoding: 'none', fileContentLanguage: 'de', fileContentDisposition: 'inline' } });
  assert.match(created.etag, /^"0x[0-9A-F]+"$/);
  assert.equal(created.fileAttributes, 'Archive');
  assert.equal(await textOf(file), '\0'.repeat(11));
  const written = await file.uploadRange('Hello World', 0, 11);
  assert.notEqual(written.etag, created.etag);
  const got = await file.download();
  assert.equal((await bytesOf(got.readableStreamBody)).toString(), 'Hello World');
  const shown = await file.getProperties();
  for (const reply of [got, shown]) {
    assert.equal(reply.contentLength, 11);
    assert.equal(reply.contentType, 'text/plain');
    assert.equal(reply.cacheControl, 'no-cache');
    assert.equal(reply.contentEncoding, 'none');
    assert.equal(reply.contentLanguage, 'de');
    assert.equal(reply.contentDisposition, 'inline');
    assert.equal(reply.etag, written.etag);
    assert.equal(reply.fileId, created.fileId);
    assert.deepEqual(reply.metadata, { colour: 'blue' });
  }
  assert.equal(shown.fileType, 'File');
  await file.delete();
  await assert.rejects(file.delete(), refused(404, 'ResourceNotFound'));
  await assert.rejects(file.download(), refused(404, 'ResourceNotFound'));
  assert.equal((await file.deleteIfExists()).succeeded, false);
});

test('creating over a file empties it; its id is new', async () => {
  const file = await fileWith(rootOf(share), 'again', 'some content', { metadata: { a: '1' } });
  const before = await file.getProperties();
  await file.create(3);
  assert.equal(await textOf(file), '\0\0\0');
  const after = await file.getProperties();
  assert.deepEqual(after.metadata, {});
  assert.notEqual(after.etag, before.etag);
});

test('ranges of a download', async () => {
  const bytes = Buffer.from(Array.from({ length: 1000 }, (_, i) => i % 256));
  const file = await fileWith(rootOf(share), 'ranges', bytes);
  for (const [offset, count] of [[0, 1], [0, 1000], [999, 1], [500, 100], [900, 500]]) {
    const got = await file.download(offset, count);
    assert.deepEqual(await bytesOf(got.readableStreamBody), bytes.subarray(offset, offset + count));
    assert.equal(got.contentRange, `bytes ${offset}-${Math.min(offset + count, 1000) - 1}/1000`);
  }
  assert.deepEqual(await contentOf(file, 990), bytes.subarray(990));
  await assert.rejects(file.download(1000, 1), refused(416, 'InvalidRange'));
  const hashed = await file.download(0, 10, { rangeGetContentMD5: true });
  await bytesOf(hashed.readableStreamBody);
  assert.equal(hashed.contentMD5.length, 16);
  const empty = fresh();
  await empty.create(0);
  assert.equal((await contentOf(empty)).length, 0);
});

test('large files, in parallel', async () => {
  const bytes = Buffer.alloc(9 * MIB + 17);
  for (let i = 0; i < bytes.length; i += 4) bytes.writeUInt32LE(Math.imul(i, 2654435761) >>> 0, Math.min(i, bytes.length - 4));
  const file = fresh();
  await file.uploadData(bytes, { concurrency: 4 });
  assert.equal(hash(await file.downloadToBuffer()), hash(bytes));
  const other = fresh();
  await other.create(bytes.length);
  await other.uploadStream(Readable.from([bytes]), bytes.length, 4 * MIB, 2);
  assert.equal(hash(await contentOf(other)), hash(bytes));
});

test('HTTP headers and metadata replace what was there', async () => {
  const file = fresh();
  await file.create(5, { fileHttpHeaders: { fileContentType: 'text/plain', fileCacheControl: 'no-cache' }, metadata: { a: '1' } });
  const set = await file.setHttpHeaders({ fileContentType: 'text/html' });
  let shown = await file.getProperties();
  assert.deepEqual([shown.contentType, shown.cacheControl, shown.etag], ['text/html', undefined, set.etag]);
  assert.deepEqual([shown.metadata, shown.contentLength], [{ a: '1' }, 5]);
  await file.setMetadata({ b: '2' });
  shown = await file.getProperties();
  assert.deepEqual([shown.metadata, shown.contentType], [{ b: '2' }, 'text/html']);
  for (const method of ['GET', 'HEAD']) {
    const answer = await request(server, method, `/${share.name}/${file.name}?comp=metadata`);
    assert.equal(answer.headers['x-ms-meta-b'], '2');
  }
  const none = fresh();
  await assert.rejects(none.setHttpHeaders({}), refused(404, 'ResourceNotFound'));
  await assert.rejects(none.setMetadata({ a: '1' }), refused(404, 'ResourceNotFound'));
  await assert.rejects(none.getProperties(), refused(404, 'ResourceNotFound'));
});

test('resizing cuts and fills with zeros', async () => {
  const file = await fileWith(rootOf(share), 'sized', 'abcdefgh');
  await file.resize(4);
  assert.equal(await textOf(file), 'abcd');
  await file.resize(8);
  assert.equal(await textOf(file), 'abcd\0\0\0\0');
  await assert.rejects(fresh().resize(1), refused(404, 'ResourceNotFound'));
});

test('a file of 4 TiB of zeros costs nothing, a larger one is refused', async () => {
  const file = fresh();
  await file.create(4 * 1024 ** 4);
  await file.uploadRange('end', 4 * 1024 ** 4 - 3, 3);
  assert.equal((await contentOf(file, 4 * 1024 ** 4 - 5, 5)).toString(), '\0\0end');
  assert.deepEqual((await file.getRangeList()).rangeList.map(({ start, end }) => [start, end]).at(-1)[1], 4 * 1024 ** 4 - 1);
  await assert.rejects(fresh().create(4 * 1024 ** 4 + 1), (error) => error instanceof RangeError || error.statusCode === 400);
  const answer = await request(server, 'PUT', `/${share.name}/large`, {
    headers: { 'x-ms-type': 'file', 'x-ms-content-length': String(4 * 1024 ** 4 + 1) },
  });
  assert.deepEqual([answer.status, answer.code], [400, 'OutOfRangeInput']);
});

test('SMB properties: times and attributes', async () => {
  const [creationTime, lastWriteTime] = [new Date('2019-01-02T03:04:05.678Z'), new Date('2020-01-02T03:04:05.678Z')];
  const file = fresh();
  await file.create(1, { creationTime, lastWriteTime });
  let shown = await file.getProperties();
  assert.deepEqual([shown.fileCreatedOn, shown.fileLastWriteOn], [creationTime, lastWriteTime]);
  // A write moves the last write time, reading nothing.
  await file.uploadRange('x', 0, 1);
  shown = await file.getProperties();
  assert.deepEqual(shown.fileCreatedOn, creationTime);
  assert.ok(shown.fileLastWriteOn > lastWriteTime);
  await file.uploadRange('y', 0, 1, { fileLastWrittenMode: 'Preserve' });
  assert.deepEqual((await file.getProperties()).fileLastWriteOn, shown.fileLastWriteOn);
});

test('a read-only file refuses every change of its content', async () => {
  const file = await fileWith(rootOf(share), 'read-only', 'fixed');
  const attributes = async (words) => {
    const answer = await request(server, 'PUT', `/${share.name}/read-only?comp=properties`, { headers: {
      'x-ms-file-attributes': words, 'x-ms-file-creation-time': 'preserve', 'x-ms-file-last-write-time': 'preserve',
      'x-ms-file-permission': 'preserve' } });
    assert.equal(answer.status, 200, answer.text);
  };
  await attributes('ReadOnly');
  assert.equal((await file.getProperties()).fileAttributes, 'ReadOnly');
  const changes = {
    create: () => file.create(1),
    uploadRange: () => file.uploadRange('x', 0, 1),
    clearRange: () => file.clearRange(0, 1),
    setMetadata: () => file.setMetadata({ a: '1' }),
  };
  for (const [name, change] of Object.entries(changes)) {
    await assert.rejects(change(), refused(409, 'ReadOnlyAttribute'), name);
  }
  assert.equal(await textOf(file), 'fixed');
  await attributes('None');
  await file.uploadRange('F', 0, 1);
  assert.equal(await textOf(file), 'Fixed');
});

test('what creation asks for', async () => {
  const create = async (headers) => {
    const { status, code } = await request(server, 'PUT', `/${share.name}/asked`, { headers });
    return [status, code];
  };
  assert.deepEqual(await create({ 'x-ms-type': 'file' }), [400, 'MissingRequiredHeader']);
  assert.deepEqual(await create({ 'x-ms-type': 'file', 'x-ms-content-length': '-1' }), [400, 'OutOfRangeInput']);
  assert.deepEqual(await create({ 'x-ms-type': 'file', 'x-ms-content-length': '1', 'x-ms-content-md5': 'x' }), [400, 'InvalidMd5']);
  assert.equal((await create({ 'x-ms-type': 'file', 'x-ms-content-length': '1', 'x-ms-file-attributes': 'Red' }))[0], 400);
  await assert.rejects(service.getShareClient('none').rootDirectoryClient.getFileClient('f').create(1), refused(404, 'ShareNotFound'));
});

test('the last writer wins: parallel writes of one file all succeed', async () => {
  const file = fresh();
  await file.create(64);
  await Promise.all(Array.from({ length: 64 }, (_, i) => file.uploadRange('x', i, 1)));
  assert.equal(await textOf(file), 'x'.repeat(64));
});
