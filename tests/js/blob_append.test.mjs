// Append blobs through the SDK.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { test } from 'node:test';
import { blobServer, contentOf, refused, refusedUnchanged, textOf } from './blob_fixtures.mjs';

const { freshContainer } = await blobServer();
const container = await freshContainer();
const MIB = 1024 * 1024;

test('blocks are added at the end, and each tells where', async () => {
  const blob = container.getAppendBlobClient('grows');
  const created = await blob.create({ metadata: { a: 'b' }, blobHTTPHeaders: { blobContentType: 'text/plain' } });
  const first = await blob.appendBlock('one', 3);
  assert.equal(first.blobAppendOffset, '0');
  assert.equal(first.blobCommittedBlockCount, 1);
  assert.notEqual(first.etag, created.etag);
  const second = await blob.appendBlock('two', 3);
  assert.equal(second.blobAppendOffset, '3');
  assert.equal(second.blobCommittedBlockCount, 2);
  assert.equal(await textOf(blob), 'onetwo');
  const shown = await blob.getProperties();
  assert.equal(shown.blobType, 'AppendBlob');
  assert.equal(shown.blobCommittedBlockCount, 2);
  assert.equal(shown.contentType, 'text/plain');
  assert.deepEqual(shown.metadata, { a: 'b' });
});

test('creating again empties it; createIfNotExists does not', async () => {
  const blob = container.getAppendBlobClient('recreated');
  await blob.create();
  await blob.appendBlock('x', 1);
  assert.equal((await blob.createIfNotExists()).succeeded, false);
  assert.equal(await textOf(blob), 'x');
  await blob.create();
  assert.equal((await blob.getProperties()).contentLength, 0);
});

test('position and size conditions', async () => {
  const blob = container.getAppendBlobClient('conditions');
  await blob.create();
  await blob.appendBlock('12345', 5);
  const append = (conditions) => blob.appendBlock('678', 3, { conditions });
  await refusedUnchanged(blob, 412, 'AppendPositionConditionNotMet', () => append({ appendPosition: 4 }));
  await refusedUnchanged(blob, 412, 'AppendPositionConditionNotMet', () => append({ appendPosition: 6 }));
  await refusedUnchanged(blob, 412, 'MaxBlobSizeConditionNotMet', () => append({ maxSize: 7 }));
  await append({ appendPosition: 5, maxSize: 8 });
  assert.equal(await textOf(blob), '12345678');
});

test('a retried append is told apart by its position', async () => {
  const blob = container.getAppendBlobClient('retried');
  await blob.create();
  await blob.appendBlock('once', 4, { conditions: { appendPosition: 0 } });
  await refusedUnchanged(blob, 412, 'AppendPositionConditionNotMet',
    () => blob.appendBlock('once', 4, { conditions: { appendPosition: 0 } }));
});

test('a sealed blob is read only', async () => {
  const blob = container.getAppendBlobClient('sealed');
  await blob.create();
  await blob.appendBlock('x', 1);
  await refusedUnchanged(blob, 412, 'AppendPositionConditionNotMet', () => blob.seal({ conditions: { appendPosition: 2 } }));
  await blob.seal();
  assert.equal((await blob.getProperties()).isSealed, true);
  await refusedUnchanged(blob, 409, 'BlobIsSealed', () => blob.appendBlock('y', 1));
  assert.equal(await textOf(blob), 'x');
  await blob.delete();
});

test('what is missing, and what is empty', async () => {
  const blob = container.getAppendBlobClient('nothing');
  await assert.rejects(blob.appendBlock('x', 1), refused(404, 'BlobNotFound'));
  await assert.rejects(blob.seal(), refused(404, 'BlobNotFound'));
  await blob.create();
  await refusedUnchanged(blob, 400, 'InvalidHeaderValue', () => blob.appendBlock('', 0));
});

test('a wrong checksum adds nothing', async () => {
  const blob = container.getAppendBlobClient('checked');
  await blob.create();
  const md5 = crypto.createHash('md5').update('right').digest();
  await blob.appendBlock('right', 5, { transactionalContentMD5: md5 });
  await refusedUnchanged(blob, 400, 'Md5Mismatch', () => blob.appendBlock('wrong', 5, { transactionalContentMD5: md5 }));
  await refusedUnchanged(blob, 400, 'Crc64Mismatch',
    () => blob.appendBlock('wrong', 5, { transactionalContentCrc64: new Uint8Array(8) }));
  assert.equal(await textOf(blob), 'right');
});

test('blocks of mebibytes', async () => {
  const blob = container.getAppendBlobClient('large');
  await blob.create();
  const parts = [crypto.randomBytes(4 * MIB), crypto.randomBytes(5 * MIB + 1)];
  for (const part of parts) await blob.appendBlock(part, part.length);
  assert.ok((await contentOf(blob)).equals(Buffer.concat(parts)));
});

test('concurrent appenders interleave whole blocks and lose none', async () => {
  const blob = container.getAppendBlobClient('shared');
  await blob.create();
  const writers = Array.from({ length: 16 }, async (_, writer) => {
    for (let i = 0; i < 10; ++i) {
      const line = `${String(writer).padStart(3)}:${String(i).padStart(3)}${'.'.repeat(100)}\n`;
      await blob.appendBlock(line, line.length);
    }
  });
  await Promise.all(writers);
  const lines = (await textOf(blob)).trimEnd().split('\n');
  assert.equal(lines.length, 160);
  assert.equal(new Set(lines).size, 160);
  for (const line of lines) assert.match(line, /^[ \d]{3}:[ \d]{3}\.{100}$/);
  // Each writer waited for its own acknowledgement, so its lines are in order.
  for (let writer = 0; writer < 16; ++writer) {
    const own = lines.filter((line) => Number(line.slice(0, 3)) === writer).map((line) => Number(line.slice(4, 7)));
    assert.deepEqual(own, [...own].sort((a, b) => a - b));
  }
  assert.equal((await blob.getProperties()).blobCommittedBlockCount, 160);
});
