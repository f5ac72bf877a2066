// Copies through the SDK: by URL, in one request or in the background, and the operations that take their bytes from a URL.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import http from 'node:http';
import { after, test } from 'node:test';
import { BlobSASPermissions, generateBlobSASQueryParameters } from '@azure/storage-blob';
import { blobServer, contentOf, credential, picture, refused, refusedUnchanged, textOf } from './blob_fixtures.mjs';

const { freshContainer } = await blobServer();
const sources = await freshContainer();
const targets = await freshContainer();
const MIB = 1024 * 1024;
const minutes = (count) => new Date(Date.now() + count * 60_000);
let counter = 0;
const target = () => targets.getBlockBlobClient(`target-${counter++}`);
const withSas = (blob) => `${blob.url.split('?')[0]}?${generateBlobSASQueryParameters({ containerName: blob.containerName,
  blobName: blob.name, expiresOn: minutes(10), permissions: BlobSASPermissions.parse('r') }, credential)}`;

async function source(text = 'the source') {
  const blob = sources.getBlockBlobClient(`source-${counter++}`);
  await blob.upload(text, text.length, { metadata: { from: 'source' }, blobHTTPHeaders: { blobContentType: 'text/source' },
    tags: { colour: 'blue' } });
  return blob;
}

test('Copy Blob takes content, headers and metadata', async () => {
  const from = await source();
  const to = target();
  const poller = await to.beginCopyFromURL(from.url, { intervalInMs: 10 });
  const done = await poller.pollUntilDone();
  assert.equal(done.copyStatus, 'success');
  assert.equal(await textOf(to), 'the source');
  const shown = await to.getProperties();
  assert.deepEqual(shown.metadata, { from: 'source' });
  assert.equal(shown.contentType, 'text/source');
  assert.equal(shown.copyStatus, 'success');
  assert.equal(shown.copyId, done.copyId);
  assert.equal(shown.copyProgress, '10/10');
  assert.ok(shown.copyCompletedOn instanceof Date);
  assert.ok(shown.copySource.startsWith(from.url.split('?')[0]));
  await from.upload('changed', 7);
  assert.equal(await textOf(to), 'the source');
});

test('Copy Blob with metadata, tags and tier of its own', async () => {
  const from = await source();
  const to = target();
  const options = { metadata: { own: '1' }, tags: { t: '2' }, tier: 'Cool', intervalInMs: 10 };
  await (await to.beginCopyFromURL(from.url, options)).pollUntilDone();
  const shown = await to.getProperties();
  assert.deepEqual(shown.metadata, { own: '1' });
  assert.equal(shown.accessTier, 'Cool');
  assert.deepEqual((await to.getTags()).tags, { t: '2' });
});

test('a write after a copy forgets the copy', async () => {
  const to = target();
  await (await to.beginCopyFromURL((await source()).url, { intervalInMs: 10 })).pollUntilDone();
  await to.upload('x', 1);
  assert.equal((await to.getProperties()).copyId, undefined);
});

test('append, page and snapshot sources', async () => {
  const append = sources.getAppendBlobClient('append-source');
  await append.create();
  await append.appendBlock('one', 3);
  const log = targets.getAppendBlobClient('append-target');
  await (await log.beginCopyFromURL(append.url, { intervalInMs: 10 })).pollUntilDone();
  assert.equal((await log.getProperties()).blobType, 'AppendBlob');
  await log.appendBlock('two', 3);
  assert.equal(await textOf(log), 'onetwo');
  assert.equal(await textOf(append), 'one');

  const page = sources.getPageBlobClient('page-source');
  await page.create(1024);
  await page.uploadPages(Buffer.alloc(512, 1), 512, 512);
  const disk = targets.getPageBlobClient('page-target');
  await (await disk.beginCopyFromURL(page.url, { intervalInMs: 10 })).pollUntilDone();
  await page.uploadPages(Buffer.alloc(512, 2), 512, 512);
  assert.ok((await contentOf(disk)).equals(Buffer.concat([Buffer.alloc(512), Buffer.alloc(512, 1)])));

  const from = await source('old');
  const { snapshot } = await from.createSnapshot();
  await from.upload('new', 3);
  await (await from.beginCopyFromURL(from.withSnapshot(snapshot).url, { intervalInMs: 10 })).pollUntilDone();
  assert.equal(await textOf(from), 'old');
});

test('a source that is missing or not readable', async () => {
  const to = target();
  const missing = sources.getBlockBlobClient('not-there');
  await assert.rejects(to.beginCopyFromURL(missing.url), refused(404, 'BlobNotFound'));
  await assert.rejects(to.syncCopyFromURL(withSas(missing)), refused(404, 'CannotVerifyCopySource'));
  await assert.rejects(to.syncCopyFromURL('not a url'), (error) => error.statusCode === 400);
  assert.equal(await picture(to), 'absent');
});

const FROM_URL = {
  'Copy Blob': async (to, url, options) => (await to.beginCopyFromURL(url, { intervalInMs: 10, ...options })).pollUntilDone(),
  'Copy Blob From URL': (to, url, options) => to.syncCopyFromURL(url, options),
  'Put Blob From URL': (to, url, options) => to.syncUploadFromURL(url, options),
};

for (const [name, run] of Object.entries(FROM_URL)) {
  test(`${name}: conditions on the source`, async () => {
    const from = await source();
    const { etag, lastModified } = await from.getProperties();
    const hour = 3_600_000;
    const sourceConditions = {
      ifMatch: ['"0x1"', etag], ifNoneMatch: [etag, '"0x1"'],
      ifModifiedSince: [lastModified, new Date(lastModified - hour)],
      ifUnmodifiedSince: [new Date(lastModified - hour), lastModified],
    };
    for (const [condition, [fails, holds]] of Object.entries(sourceConditions)) {
      const to = target();
      await to.upload('original', 8);
      const before = await picture(to);
      await assert.rejects(run(to, withSas(from), { sourceConditions: { [condition]: fails } }),
        (error) => error.statusCode === 412 || error.statusCode === 304, condition);
      assert.deepEqual(await picture(to), before);
      await run(to, withSas(from), { sourceConditions: { [condition]: holds } });
      assert.equal(await textOf(to), 'the source');
    }
  });

  test(`${name}: conditions and lease of the target`, async () => {
    const from = await source();
    const to = target();
    await to.upload('original', 8);
    const { etag } = await to.getProperties();
    const refusedCopy = (conditions, check) => async () => {
      const before = await picture(to);
      await assert.rejects(run(to, withSas(from), { conditions }), check);
      assert.deepEqual(await picture(to), before);
    };
    await refusedCopy({ ifMatch: '"0x1"' }, (error) => error.statusCode === 412)();
    const unmet = name === 'Copy Blob' ? 'TargetConditionNotMet' : 'ConditionNotMet';
    await refusedCopy({ ifNoneMatch: etag }, refused(412, unmet))();
    const { leaseId } = await to.getBlobLeaseClient().acquireLease(-1);
    await refusedCopy({}, refused(412, 'LeaseIdMissing'))();
    await refusedCopy({ leaseId: crypto.randomUUID() }, refused(412, 'LeaseIdMismatchWithBlobOperation'))();
    await run(to, withSas(from), { conditions: { leaseId } });
    assert.equal(await textOf(to), 'the source');
    assert.equal((await to.getProperties()).leaseState, 'leased');
  });
}

test('blocks, appends and pages taken from a URL', async () => {
  const from = await source('0123456789');
  const block = target();
  await block.stageBlockFromURL('AAAA', withSas(from), 2, 3);
  await block.stageBlockFromURL('BBBB', withSas(from));
  await block.commitBlockList(['AAAA', 'BBBB']);
  assert.equal(await textOf(block), '2340123456789');

  const append = targets.getAppendBlobClient(`target-${counter++}`);
  await append.create();
  await append.appendBlockFromURL(withSas(from), 5, 5);
  await refusedUnchanged(append, 412, 'AppendPositionConditionNotMet',
    () => append.appendBlockFromURL(withSas(from), 0, 5, { conditions: { appendPosition: 1 } }));
  assert.equal(await textOf(append), '56789');

  const pages = sources.getPageBlobClient('pages-from');
  await pages.create(1024);
  await pages.uploadPages(Buffer.alloc(512, 5), 512, 512);
  const disk = targets.getPageBlobClient(`target-${counter++}`);
  await disk.create(1024);
  await disk.uploadPagesFromURL(withSas(pages), 512, 0, 512);
  assert.ok((await contentOf(disk)).equals(Buffer.concat([Buffer.alloc(512, 5), Buffer.alloc(512)])));
});

test('a wrong checksum of the source changes nothing', async () => {
  const from = await source();
  const to = target();
  const sourceContentMD5 = crypto.createHash('md5').update('other').digest();
  await assert.rejects(to.syncCopyFromURL(withSas(from), { sourceContentMD5 }), refused(400, 'Md5Mismatch'));
  await assert.rejects(to.stageBlockFromURL('AAAA', withSas(from), 0, undefined, { sourceContentMD5 }),
    refused(400, 'Md5Mismatch'));
  assert.equal(await picture(to), 'absent');
});

test('aborting what is not pending', async () => {
  const to = target();
  await (await to.beginCopyFromURL((await source()).url, { intervalInMs: 10 })).pollUntilDone();
  const { copyId } = await to.getProperties();
  await refusedUnchanged(to, 409, 'NoPendingCopyOperation', () => to.abortCopyFromURL(copyId));
});

test('a large copy inside the server is quick and shares its bytes', async () => {
  const data = crypto.randomBytes(32 * MIB);
  const from = sources.getBlockBlobClient('large');
  await from.uploadData(data);
  const copies = Array.from({ length: 10 }, () => target());
  for (const to of copies) await (await to.beginCopyFromURL(from.url, { intervalInMs: 10 })).pollUntilDone();
  await from.delete();
  assert.ok((await contentOf(copies[3])).equals(data));
});

test('addresses of this machine other than the server are not fetched', async () => {
  const asked = [];
  const trap = http.createServer((request, reply) => {
    asked.push(request.url);
    reply.end('secret');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => trap.once('listening', resolve));
  after(() => trap.close());
  const { port } = trap.address();
  const to = target();
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '127.1', '2130706433']) {
    await assert.rejects(to.syncCopyFromURL(`http://${host}:${port}/secret`), (error) => error.statusCode >= 400, host);
    await assert.rejects(to.stageBlockFromURL('AAAA', `http://${host}:${port}/secret`), (error) => error.statusCode >= 400, host);
  }
  assert.deepEqual(asked, []);
  assert.equal(await picture(to), 'absent');
});
