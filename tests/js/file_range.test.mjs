// Ranges of files: written, cleared and listed at any alignment, and what changed since a snapshot.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { test } from 'node:test';
import { contentOf, fileServer, fileWith, MIB, refused, request, rootOf } from './file_fixtures.mjs';

const { server, freshShare } = await fileServer();
const share = await freshShare();
let counter = 0;
const fresh = async (size) => {
  const file = rootOf(share).getFileClient(`file-${counter++}`);
  await file.create(size);
  return file;
};
const pairs = (list) => list.map(({ start, end }) => [start, end]);
const rangesOf = async (file, options) => pairs((await file.getRangeList(options)).rangeList);
const put = (file, headers, body) => request(server, 'PUT', `/${share.name}/${file.name}?comp=range`, { headers, body });

test('writes and clears at any alignment, against a model', async () => {
  const size = 3 * MIB + 123;
  const file = await fresh(size);
  const model = Buffer.alloc(size);
  let seed = 12345;
  const random = (limit) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return seed % limit;
  };
  for (let step = 0; step < 60; ++step) {
    const offset = random(size);
    const length = 1 + random(Math.min(size - offset, step % 3 === 0 ? 1000 : MIB));
    if (step % 4 === 3) {
      await file.clearRange(offset, length);
      model.fill(0, offset, offset + length);
    } else {
      const bytes = crypto.randomBytes(length);
      await file.uploadRange(bytes, offset, length);
      bytes.copy(model, offset);
    }
  }
  assert.equal((await contentOf(file)).equals(model), true);
  // Whatever is not listed is zeros.
  const outside = Buffer.from(model);
  for (const [start, end] of await rangesOf(file)) outside.fill(0, start, end + 1);
  assert.equal(outside.equals(Buffer.alloc(size)), true);
});

test('lists show what was written', async () => {
  const file = await fresh(10 * MIB);
  assert.deepEqual(await rangesOf(file), []);
  await file.uploadRange(Buffer.alloc(512, 1), 512, 512);
  await file.uploadRange(Buffer.alloc(512, 1), 1024, 512);
  await file.uploadRange(Buffer.alloc(1024, 1), 8 * MIB, 1024);
  assert.deepEqual(await rangesOf(file), [[512, 1535], [8 * MIB, 8 * MIB + 1023]]);
  assert.deepEqual(await rangesOf(file, { range: { offset: 0, count: MIB } }), [[512, 1535]]);
  await file.clearRange(512, 512);
  assert.deepEqual(await rangesOf(file), [[1024, 1535], [8 * MIB, 8 * MIB + 1023]]);
  const answer = await request(server, 'GET', `/${share.name}/${file.name}?comp=rangelist`);
  assert.equal(answer.headers['x-ms-content-length'], String(10 * MIB));
  assert.equal(answer.headers.etag, (await file.getProperties()).etag);
  await assert.rejects(rootOf(share).getFileClient('none').getRangeList(), refused(404, 'ResourceNotFound'));
});

test('differences to a snapshot', async () => {
  const own = await freshShare();
  const file = await fileWith(rootOf(own), 'file', Buffer.alloc(4096, 1));
  await file.resize(8192);
  const { snapshot } = await own.createSnapshot();
  await file.uploadRange(Buffer.alloc(512, 2), 512, 512);
  await file.clearRange(2048, 512);
  const diff = await file.getRangeListDiff(snapshot);
  assert.deepEqual(pairs(diff.ranges ?? []), [[512, 1023]]);
  assert.deepEqual(pairs(diff.clearRanges ?? []), [[2048, 2559]]);
  const later = await own.createSnapshot();
  const between = await own.withSnapshot(later.snapshot).rootDirectoryClient.getFileClient('file').getRangeListDiff(snapshot);
  assert.deepEqual(pairs(between.ranges ?? []), [[512, 1023]]);
  await assert.rejects(file.getRangeListDiff('2001-01-01T00:00:00.0000000Z'), (error) => error.statusCode >= 400);
});

test('what a write asks for', async () => {
  const file = await fresh(1024);
  const update = { 'x-ms-write': 'update' };
  const verdict = async (headers, body) => {
    const { status, code } = await put(file, headers, body);
    return [status, code];
  };
  assert.deepEqual(await verdict({ ...update, 'x-ms-range': 'bytes=0-3' }, 'four'), [201, undefined]);
  assert.deepEqual(await verdict({ ...update, range: 'bytes=0-3' }, 'four'), [201, undefined]);
  assert.deepEqual(await verdict(update, 'four'), [400, 'MissingRequiredHeader']);
  assert.deepEqual((await verdict({ ...update, 'x-ms-range': 'bytes=0-' }, 'four'))[0], 400);
  assert.deepEqual((await verdict({ ...update, 'x-ms-range': 'bytes=5-3' }, 'four'))[0], 400);
  assert.deepEqual((await verdict({ ...update, 'x-ms-range': 'bytes=0-4' }, 'four'))[0], 400);
  assert.deepEqual(await verdict({ ...update, 'x-ms-range': 'bytes=1022-1025' }, 'four'), [416, 'InvalidRange']);
  assert.deepEqual((await verdict({ 'x-ms-write': 'erase', 'x-ms-range': 'bytes=0-3' }, 'four'))[0], 400);
  const md5 = crypto.createHash('md5').update('four').digest('base64');
  const right = await put(file, { ...update, 'x-ms-range': 'bytes=0-3', 'content-md5': md5 }, 'four');
  assert.deepEqual([right.status, right.headers['content-md5']], [201, md5]);
  assert.deepEqual(await verdict({ ...update, 'x-ms-range': 'bytes=0-3', 'content-md5': md5 }, 'FOUR'), [400, 'Md5Mismatch']);
  assert.equal((await contentOf(file, 0, 4)).toString(), 'four');
  await assert.rejects(rootOf(share).getFileClient('none').uploadRange('x', 0, 1), refused(404, 'ResourceNotFound'));
  await assert.rejects(rootOf(share).getFileClient('none').clearRange(0, 1), refused(404, 'ResourceNotFound'));
});

test('at most 4 MiB in one write, a clear of any size', async () => {
  const file = await fresh(16 * MIB);
  await file.uploadRange(Buffer.alloc(4 * MIB, 7), 0, 4 * MIB);
  const large = await put(file, { 'x-ms-write': 'update', 'x-ms-range': `bytes=0-${4 * MIB}` }, Buffer.alloc(4 * MIB + 1));
  assert.ok([400, 413].includes(large.status), large.text);
  await file.clearRange(0, 16 * MIB);
  assert.deepEqual(await rangesOf(file), []);
  await assert.rejects(file.clearRange(0, 16 * MIB + 1), refused(416, 'InvalidRange'));
});

test('a reader sees one version of the file', async () => {
  const file = await fresh(4 * MIB);
  await file.uploadRange(Buffer.alloc(4 * MIB, 1), 0, 4 * MIB);
  for (let round = 0; round < 5; ++round) {
    const got = await file.download();
    const writing = file.uploadRange(Buffer.alloc(4 * MIB, 2 + round), 0, 4 * MIB);
    const seen = new Set();
    for await (const chunk of got.readableStreamBody) for (const byte of chunk) seen.add(byte);
    assert.equal(seen.size, 1);
    await writing;
  }
});
