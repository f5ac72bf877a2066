// Block blobs through the SDK: uploads whole and in blocks, downloads whole and in ranges, properties, metadata, deletion.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { test } from 'node:test';
import {
  blobServer, bytesOf, contentOf, hash, picture, refused, refusedUnchanged, request, textOf,
} from './blob_fixtures.mjs';

const { server, freshContainer } = await blobServer();
const container = await freshContainer();
const KIB = 1024;
const MIB = 1024 * KIB;
const id = (text) => Buffer.from(text).toString('base64');
const md5 = (data) => crypto.createHash('md5').update(data).digest();
const pathOf = (blob) => new URL(blob.url).pathname;

test('an upload keeps content, headers and metadata, and replaces all of them', async () => {
  const blob = container.getBlockBlobClient('headers');
  const blobHTTPHeaders = { blobCacheControl: 'no-cache', blobContentDisposition: 'attachment', blobContentEncoding: 'x-none',
    blobContentLanguage: 'de', blobContentType: 'text/plain', blobContentMD5: md5('hello') };
  const put = await blob.upload('hello', 5, { blobHTTPHeaders, metadata: { Mixed_Case: 'value' } });
  const got = await blob.download();
  assert.equal((await bytesOf(got.readableStreamBody)).toString(), 'hello');
  for (const shown of [got, await blob.getProperties()]) {
    assert.equal(shown.etag, put.etag);
    assert.deepEqual(shown.lastModified, put.lastModified);
    assert.equal(shown.cacheControl, 'no-cache');
    assert.equal(shown.contentDisposition, 'attachment');
    assert.equal(shown.contentEncoding, 'x-none');
    assert.equal(shown.contentLanguage, 'de');
    assert.equal(shown.contentType, 'text/plain');
    assert.equal(shown.contentLength, 5);
    assert.equal(shown.blobType, 'BlockBlob');
    assert.deepEqual(Buffer.from(shown.contentMD5), md5('hello'));
    assert.deepEqual(shown.metadata, { mixed_case: 'value' });
  }
  const { createdOn } = await blob.getProperties();
  await blob.upload('bye', 3);
  const now = await blob.getProperties();
  assert.equal(now.contentType, 'application/octet-stream');
  assert.equal(now.cacheControl, undefined);
  assert.deepEqual(now.metadata, {});
  assert.ok(now.createdOn >= createdOn);
});

test('a blob without bytes', async () => {
  const blob = container.getBlockBlobClient('empty');
  await blob.upload('', 0);
  assert.equal((await contentOf(blob)).length, 0);
  assert.equal((await blob.getProperties()).contentLength, 0);
  await assert.rejects(blob.download(0, 1), refused(416, 'InvalidRange'));
});

test('ranges: whole, part, to the end, beyond', async () => {
  const data = crypto.randomBytes(100_000);
  const blob = container.getBlockBlobClient('ranges');
  await blob.upload(data, data.length);
  const rows = [[0, 1], [0, 100_000], [99_999, 1], [4095, 2], [65_535, 10_000], [50_000, undefined], [99_990, 1000]];
  for (const [offset, count] of rows) {
    const got = await blob.download(offset, count);
    const expected = data.subarray(offset, count && offset + count);
    assert.equal(got.contentLength, expected.length, `${offset} ${count}`);
    if (offset || count) assert.equal(got.contentRange, `bytes ${offset}-${offset + expected.length - 1}/100000`);
    assert.deepEqual(await bytesOf(got.readableStreamBody), expected);
  }
  await assert.rejects(blob.download(100_000, 1), refused(416, 'InvalidRange'));
  const hashed = await blob.download(10, 20, { rangeGetContentMD5: true });
  assert.deepEqual(Buffer.from(hashed.contentMD5), md5(data.subarray(10, 30)));
  assert.deepEqual(Buffer.from(hashed.blobContentMD5), md5(data));
  const summed = await blob.download(10, 20, { rangeGetContentCrc64: true });
  assert.equal(summed.contentCrc64.length, 8);
});

test('a hash of a range is for at most 4 MiB', async () => {
  const blob = container.getBlockBlobClient('hashed-range');
  const data = Buffer.alloc(4 * MIB + 1, 'x');
  await blob.upload(data, data.length);
  assert.equal((await contentOf(blob, 0, 4 * MIB, { rangeGetContentMD5: true })).length, 4 * MIB);
  await assert.rejects(blob.download(0, 4 * MIB + 1, { rangeGetContentMD5: true }), (error) => error.statusCode === 400);
});

test('ranges of suffix form, of several parts, and malformed ones', async () => {
  const blob = container.getBlockBlobClient('odd-ranges');
  await blob.upload('0123456789', 10);
  const get = (range, header = 'range') => request(server, 'GET', pathOf(blob), { headers: { [header]: range } });
  assert.equal((await get('bytes=3-')).text, '3456789');
  assert.equal((await get('bytes=3-5', 'x-ms-range')).text, '345');
  const both = { headers: { range: 'bytes=0-0', 'x-ms-range': 'bytes=9-9' } };
  assert.equal((await request(server, 'GET', pathOf(blob), both)).text, '9');
  // What it does not understand as one range of bytes the service answers with everything.
  for (const range of ['bytes=5-3', 'lines=1-2', 'bytes=0-1,3-4']) {
    const got = await get(range);
    assert.equal(got.status, 200, range);
    assert.equal(got.text, '0123456789', range);
  }
});

test('large data goes up in blocks and comes down in ranges', async () => {
  const data = crypto.randomBytes(9 * MIB + 12_345);
  const blob = container.getBlockBlobClient('in-blocks');
  await blob.uploadData(data, { blockSize: MIB, maxSingleShotSize: MIB, concurrency: 4, metadata: { a: 'b' } });
  const { committedBlocks, uncommittedBlocks } = await blob.getBlockList('all');
  assert.equal(committedBlocks.length, 10);
  assert.equal(committedBlocks.at(-1).size, 12_345);
  assert.ok(!uncommittedBlocks?.length);
  assert.deepEqual((await blob.getProperties()).metadata, { a: 'b' });
  const back = await blob.downloadToBuffer(undefined, undefined, { blockSize: 3 * MIB, concurrency: 4 });
  assert.equal(hash(back), hash(data));
});

test('blocks: staged ones are invisible until committed', async () => {
  const blob = container.getBlockBlobClient('staged');
  await blob.stageBlock(id('b'), 'BB', 2);
  await blob.stageBlock(id('a'), 'A', 1);
  await assert.rejects(blob.getProperties(), refused(404, 'BlobNotFound'));
  await assert.rejects(blob.setMetadata({}), refused(404, 'BlobNotFound'));
  const staged = await blob.getBlockList('all');
  assert.equal(staged.etag, undefined);
  assert.deepEqual(staged.uncommittedBlocks.map((block) => [block.name, block.size]), [[id('a'), 1], [id('b'), 2]]);
  await blob.commitBlockList([id('b'), id('a'), id('b')]);
  assert.equal(await textOf(blob), 'BBABB');
  const committed = await blob.getBlockList('all');
  assert.deepEqual(committed.committedBlocks.map((block) => block.name), [id('b'), id('a'), id('b')]);
  assert.ok(!committed.uncommittedBlocks?.length);
});

test('blocks: the newest of an id wins, and the kind says which list is meant', async () => {
  const blob = container.getBlockBlobClient('lists');
  await blob.stageBlock(id('a'), 'old', 3);
  await blob.stageBlock(id('a'), 'first', 5);
  await blob.commitBlockList([id('a')]);
  assert.equal(await textOf(blob), 'first');
  const before = await picture(blob);
  await blob.stageBlock(id('a'), 'second', 6);
  assert.deepEqual(await picture(blob), before);

  const commit = (kind, block = id('a')) => request(server, 'PUT', `${pathOf(blob)}?comp=blocklist`,
    { body: `<?xml version="1.0" encoding="utf-8"?><BlockList><${kind}>${block}</${kind}></BlockList>` });
  assert.equal((await commit('Committed')).status, 201);
  assert.equal(await textOf(blob), 'first');
  // The commit dropped the block that was staged.
  const missing = await commit('Uncommitted');
  assert.equal(missing.status, 400);
  assert.equal(missing.code, 'InvalidBlockList');
  await blob.stageBlock(id('a'), 'third', 5);
  assert.equal((await commit('Latest')).status, 201);
  assert.equal(await textOf(blob), 'third');
  assert.equal((await commit('Latest', id('z'))).code, 'InvalidBlockList');
  assert.equal(await textOf(blob), 'third');
});

test('blocks: a commit replaces headers and metadata', async () => {
  const blob = container.getBlockBlobClient('committed-headers');
  await blob.upload('x', 1, { metadata: { old: '1' }, blobHTTPHeaders: { blobContentType: 'text/old' } });
  await blob.stageBlock(id('a'), 'y', 1);
  await blob.commitBlockList([id('a')], { metadata: { fresh: '2' }, blobHTTPHeaders: { blobContentType: 'text/new' },
    tags: { t: '1' }, tier: 'Cool' });
  const shown = await blob.getProperties();
  assert.deepEqual(shown.metadata, { fresh: '2' });
  assert.equal(shown.contentType, 'text/new');
  assert.equal(shown.accessTier, 'Cool');
  assert.equal(shown.contentMD5, undefined);
  assert.deepEqual((await blob.getTags()).tags, { t: '1' });
});

test('blocks: an empty list makes an empty blob; Put Blob drops what was staged', async () => {
  const blob = container.getBlockBlobClient('no-blocks');
  await blob.commitBlockList([]);
  assert.equal((await blob.getProperties()).contentLength, 0);
  await blob.stageBlock(id('a'), 'x', 1);
  await blob.upload('whole', 5);
  assert.ok(!(await blob.getBlockList('uncommitted')).uncommittedBlocks?.length);
  await assert.rejects(blob.commitBlockList([id('a')]), refused(400, 'InvalidBlockList'));
  assert.equal(await textOf(blob), 'whole');
});

test('blocks: bad ids and lists are refused', async () => {
  const blob = container.getBlockBlobClient('bad-blocks');
  await blob.stageBlock(id('aaaa'), 'x', 1);
  await assert.rejects(blob.stageBlock(id('bbbbbbb'), 'x', 1), refused(400, 'InvalidBlobOrBlock'));
  await assert.rejects(blob.stageBlock('not base64!', 'x', 1), refused(400, 'InvalidQueryParameterValue'));
  await assert.rejects(blob.stageBlock(id('a'.repeat(65)), 'x', 1), refused(400, 'InvalidQueryParameterValue'));
  const list = (body) => request(server, 'PUT', `${pathOf(blob)}?comp=blocklist`, { body });
  assert.equal((await list('<BlockList><Latest>')).code, 'InvalidXmlDocument');
  assert.equal((await list('')).code, 'InvalidXmlDocument');
  assert.equal((await list('<Other/>')).code, 'InvalidXmlDocument');
  const uncommitted = (await blob.getBlockList('uncommitted')).uncommittedBlocks;
  assert.deepEqual(uncommitted.map((block) => block.name), [id('aaaa')]);
});

test('properties and metadata replace what was there and change the ETag', async () => {
  const blob = container.getBlockBlobClient('properties');
  const blobHTTPHeaders = { blobContentType: 'text/a', blobCacheControl: 'c' };
  const put = await blob.upload('hello', 5, { metadata: { a: '1' }, blobHTTPHeaders });
  const set = await blob.setHTTPHeaders({ blobContentType: 'text/b' });
  assert.notEqual(set.etag, put.etag);
  const shown = await blob.getProperties();
  assert.equal(shown.contentType, 'text/b');
  assert.equal(shown.cacheControl, undefined);
  assert.deepEqual(shown.metadata, { a: '1' });
  const again = await blob.setMetadata({ b: '2', c: '3' });
  assert.notEqual(again.etag, set.etag);
  assert.deepEqual((await blob.getProperties()).metadata, { b: '2', c: '3' });
  await blob.setMetadata();
  assert.deepEqual((await blob.getProperties()).metadata, {});
  assert.equal(await textOf(blob), 'hello');
});

test('what is missing is said', async () => {
  const blob = container.getBlockBlobClient('missing');
  const uses = [() => blob.download(), () => blob.getProperties(), () => blob.setMetadata({}), () => blob.delete(),
    () => blob.setHTTPHeaders({}), () => blob.createSnapshot(), () => blob.getBlockList('all'), () => blob.setAccessTier('Cool'),
    () => blob.getBlobLeaseClient().acquireLease(15), () => blob.getTags()];
  for (const use of uses) await assert.rejects(use(), refused(404, 'BlobNotFound'), String(use));
  assert.equal(await blob.exists(), false);
  assert.equal((await blob.deleteIfExists()).succeeded, false);
});

test('a deleted blob is gone', async () => {
  const blob = container.getBlockBlobClient('deleted');
  await blob.upload('x', 1);
  await blob.delete();
  await assert.rejects(blob.delete(), refused(404, 'BlobNotFound'));
  assert.equal(await picture(blob), 'absent');
});

test('operations of another blob type are refused', async () => {
  const blob = container.getBlockBlobClient('typed');
  await blob.upload('x', 1);
  const append = container.getAppendBlobClient('typed');
  const page = container.getPageBlobClient('typed');
  await refusedUnchanged(blob, 409, 'InvalidBlobType', () => append.appendBlock('y', 1));
  await refusedUnchanged(blob, 409, 'InvalidBlobType', () => append.seal());
  await refusedUnchanged(blob, 409, 'InvalidBlobType', () => page.uploadPages(Buffer.alloc(512), 0, 512));
  await refusedUnchanged(blob, 409, 'InvalidBlobType', () => page.resize(1024));
  const pages = container.getPageBlobClient('pages');
  await pages.create(512);
  await assert.rejects(container.getBlockBlobClient('pages').stageBlock(id('a'), 'x', 1), refused(409, 'InvalidBlobType'));
  await assert.rejects(container.getBlockBlobClient('pages').getBlockList('all'), refused(409, 'InvalidBlobType'));
});

test('Put Blob of another type replaces a blob only once it is deleted', async () => {
  const block = container.getBlockBlobClient('retyped');
  const append = container.getAppendBlobClient('retyped');
  await block.upload('x', 1);
  await refusedUnchanged(block, 409, 'InvalidBlobType', () => append.create());
  await refusedUnchanged(block, 409, 'InvalidBlobType', () => container.getPageBlobClient('retyped').create(512));
  await block.delete();
  await append.create();
  assert.equal((await block.getProperties()).blobType, 'AppendBlob');
});
