// Page blobs through the SDK.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { test } from 'node:test';
import { blobServer, contentOf, refused, refusedUnchanged } from './blob_fixtures.mjs';

const { freshContainer } = await blobServer();
const container = await freshContainer();
const PAGE = 512;
const MIB = 1024 * 1024;
const TIB = 1024 * 1024 * MIB;
const filled = (byte, pages = 1) => Buffer.alloc(pages * PAGE, byte);
// As [first page, number of pages]. What this SDK calls the count is the distance to the last byte.
const inPages = (ranges = []) => ranges.map(({ offset, count }) => [offset / PAGE, (count + 1) / PAGE]);
const rangesOf = async (promise) => inPages((await promise).pageRange);

let counter = 0;
async function freshPages(pages, options) {
  const blob = container.getPageBlobClient(`pages-${counter++}`);
  await blob.create(pages * PAGE, options);
  return blob;
}

test('pages are written in place, unwritten ones are zero', async () => {
  const blob = await freshPages(8, { metadata: { a: 'b' } });
  assert.ok((await contentOf(blob)).equals(Buffer.alloc(8 * PAGE)));
  await blob.uploadPages(filled(1, 2), PAGE, 2 * PAGE);
  const { etag } = await blob.getProperties();
  const written = await blob.uploadPages(filled(2), 2 * PAGE, PAGE);
  assert.notEqual(written.etag, etag);
  const expected = Buffer.concat([filled(0), filled(1), filled(2), filled(0, 5)]);
  assert.ok((await contentOf(blob)).equals(expected));
  assert.ok((await contentOf(blob, PAGE + 10, 2000)).equals(expected.subarray(PAGE + 10, PAGE + 2010)));
  const shown = await blob.getProperties();
  assert.equal(shown.blobType, 'PageBlob');
  assert.equal(shown.blobSequenceNumber, 0);
  assert.deepEqual(shown.metadata, { a: 'b' });
});

test('ranges that hold data', async () => {
  const blob = await freshPages(100);
  assert.deepEqual(await rangesOf(blob.getPageRanges(0, 100 * PAGE)), []);
  await blob.uploadPages(filled(1), 0, PAGE);
  await blob.uploadPages(filled(2, 2), 10 * PAGE, 2 * PAGE);
  await blob.uploadPages(filled(3), 12 * PAGE, PAGE);
  assert.deepEqual(await rangesOf(blob.getPageRanges(0, 100 * PAGE)), [[0, 1], [10, 3]]);
  assert.deepEqual(await rangesOf(blob.getPageRanges(11 * PAGE, PAGE)), [[11, 1]]);
  await blob.clearPages(11 * PAGE, PAGE);
  assert.deepEqual(await rangesOf(blob.getPageRanges(0, 100 * PAGE)), [[0, 1], [10, 1], [12, 1]]);
  assert.ok((await contentOf(blob, 10 * PAGE, 3 * PAGE)).equals(Buffer.concat([filled(2), filled(0), filled(3)])));
});

test('ranges come in pages', async () => {
  const blob = await freshPages(20);
  for (let page = 0; page < 20; page += 2) await blob.uploadPages(filled(page + 1), page * PAGE, PAGE);
  const found = [];
  for await (const response of blob.listPageRanges(0, 20 * PAGE).byPage({ maxPageSize: 3 })) {
    const ranges = (response.pageRange ?? []).map(({ start }) => start / PAGE);
    assert.ok(ranges.length <= 3);
    found.push(...ranges);
  }
  assert.deepEqual(found, [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
});

test('differences to a snapshot tell what was cleared even where it held nothing', async () => {
  const blob = container.getPageBlobClient('cleared');
  await blob.create(10 * PAGE);
  await blob.clearPages(8 * PAGE, PAGE);
  const { snapshot: first } = await blob.createSnapshot();
  await blob.clearPages(2 * PAGE, 2 * PAGE);
  await blob.uploadPages(Buffer.alloc(PAGE, 1), 3 * PAGE, PAGE);
  const { snapshot: second } = await blob.createSnapshot();
  await blob.clearPages(6 * PAGE, PAGE);
  const since = async (snapshot, of = blob) => {
    const diff = await of.getPageRangesDiff(0, 10 * PAGE, snapshot);
    return [inPages(diff.pageRange), inPages(diff.clearRange)];
  };
  assert.deepEqual(await since(first), [[[3, 1]], [[2, 1], [6, 1]]]);
  assert.deepEqual(await since(second), [[], [[6, 1]]]);
  assert.deepEqual(await since(first, blob.withSnapshot(second)), [[[3, 1]], [[2, 1]]]);
});

test('differences to a snapshot', async () => {
  const blob = await freshPages(10);
  await blob.uploadPages(filled(1, 3), 0, 3 * PAGE);
  const { snapshot } = await blob.createSnapshot();
  await blob.uploadPages(filled(2), 5 * PAGE, PAGE);
  await blob.clearPages(PAGE, PAGE);
  const diff = await blob.getPageRangesDiff(0, 10 * PAGE, snapshot);
  assert.deepEqual(inPages(diff.pageRange), [[5, 1]]);
  assert.deepEqual(inPages(diff.clearRange), [[1, 1]]);
  assert.ok((await contentOf(blob.withSnapshot(snapshot))).equals(Buffer.concat([filled(1, 3), filled(0, 7)])));
});

test('sizes and places that are not whole pages are refused', async () => {
  await assert.rejects(container.getPageBlobClient('odd').create(513), refused(400, 'InvalidHeaderValue'));
  await assert.rejects(container.getPageBlobClient('huge').create(8 * TIB + PAGE), refused(400, 'InvalidHeaderValue'));
  const blob = await freshPages(4);
  await refusedUnchanged(blob, 400, 'InvalidHeaderValue', () => blob.resize(1000));
  await refusedUnchanged(blob, 400, 'InvalidHeaderValue', () => blob.uploadPages(filled(1), 100, PAGE));
  await refusedUnchanged(blob, 400, 'InvalidHeaderValue', () => blob.clearPages(0, 100));
  await refusedUnchanged(blob, 416, 'InvalidPageRange', () => blob.uploadPages(filled(1), 4 * PAGE, PAGE));
});

test('one write carries at most 4 MiB', async () => {
  const blob = container.getPageBlobClient('big-writes');
  await blob.create(8 * MIB);
  const data = crypto.randomBytes(4 * MIB);
  await blob.uploadPages(data, 4 * MIB, data.length);
  assert.ok((await contentOf(blob, 4 * MIB)).equals(data));
  await refusedUnchanged(blob, 413, 'RequestBodyTooLarge',
    () => blob.uploadPages(Buffer.alloc(4 * MIB + PAGE), 0, 4 * MIB + PAGE));
});

test('resizing cuts off and adds zeroes', async () => {
  const blob = await freshPages(4);
  await blob.uploadPages(filled(1, 4), 0, 4 * PAGE);
  await blob.resize(2 * PAGE);
  assert.equal((await blob.getProperties()).contentLength, 2 * PAGE);
  await blob.resize(4 * PAGE);
  assert.ok((await contentOf(blob)).equals(Buffer.concat([filled(1, 2), filled(0, 2)])));
  assert.deepEqual(await rangesOf(blob.getPageRanges(0, 4 * PAGE)), [[0, 2]]);
});

test('sequence numbers: set, raise, and as conditions', async () => {
  const blob = await freshPages(2, { blobSequenceNumber: 5 });
  const number = async () => (await blob.getProperties()).blobSequenceNumber;
  assert.equal(await number(), 5);
  await blob.updateSequenceNumber('increment');
  assert.equal(await number(), 6);
  await blob.updateSequenceNumber('max', 3);
  assert.equal(await number(), 6);
  await blob.updateSequenceNumber('max', 9);
  assert.equal(await number(), 9);
  await blob.updateSequenceNumber('update', 7);
  assert.equal(await number(), 7);
  const rows = [
    ['ifSequenceNumberLessThan', 8, 7], ['ifSequenceNumberLessThanOrEqualTo', 7, 6], ['ifSequenceNumberEqualTo', 7, 8],
  ];
  for (const [condition, holds, fails] of rows) {
    const write = (value) => blob.uploadPages(filled(value), 0, PAGE, { conditions: { [condition]: value } });
    const clear = (value) => blob.clearPages(PAGE, PAGE, { conditions: { [condition]: value } });
    await refusedUnchanged(blob, 412, 'SequenceNumberConditionNotMet', () => write(fails));
    await refusedUnchanged(blob, 412, 'SequenceNumberConditionNotMet', () => clear(fails));
    await write(holds);
    await clear(holds);
  }
});

test('an empty tebibyte costs nothing and is read where it was written', async () => {
  const blob = container.getPageBlobClient('sparse');
  await blob.create(TIB);
  await blob.uploadPages(filled(9), TIB - PAGE, PAGE);
  assert.ok((await contentOf(blob, TIB - 2 * PAGE)).equals(Buffer.concat([filled(0), filled(9)])));
  assert.deepEqual(await rangesOf(blob.getPageRanges(0, TIB)), [[TIB / PAGE - 1, 1]]);
  await blob.delete();
});

test('a wrong checksum writes nothing', async () => {
  const blob = await freshPages(2);
  await blob.uploadPages(filled(1), 0, PAGE);
  const transactionalContentMD5 = crypto.createHash('md5').update('other').digest();
  await refusedUnchanged(blob, 400, 'Md5Mismatch', () => blob.uploadPages(filled(2), 0, PAGE, { transactionalContentMD5 }));
});

test('many small writes in random order', async () => {
  const pages = 64;
  const blob = await freshPages(pages);
  const expected = Buffer.alloc(pages * PAGE);
  let state = 12345;
  const next = (limit) => (state = (state * 1103515245 + 12345) % 2147483648) % limit;
  for (let i = 0; i < 100; ++i) {
    const first = next(pages);
    const count = 1 + next(Math.min(8, pages - first));
    if (next(4) === 0) {
      await blob.clearPages(first * PAGE, count * PAGE);
      expected.fill(0, first * PAGE, (first + count) * PAGE);
    } else {
      await blob.uploadPages(filled(i + 1, count), first * PAGE, count * PAGE);
      expected.fill(i + 1, first * PAGE, (first + count) * PAGE);
    }
  }
  assert.ok((await contentOf(blob)).equals(expected));
});
