// Copies: of files and blobs, within the account and by SAS, whole and by range.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once as event } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob';
import { ShareLeaseClient, ShareSASPermissions, ShareServiceClient, generateFileSASQueryParameters } from '@azure/storage-file-share';
import { contentOf, credential, fileServer, fileWith, hash, MIB, once, refused, request, rootOf, textOf } from './file_fixtures.mjs';
import { ACCOUNT, KEY } from './server.mjs';

const { server, freshShare } = await fileServer({ flags: ['--copyFromPrivateAddresses'] });
const share = await freshShare();
let counter = 0;
const fresh = () => rootOf(share).getFileClient(`target-${counter++}`);
const token = (permissions = 'r', name = share.name) => generateFileSASQueryParameters({ shareName: name,
  permissions: ShareSASPermissions.parse(permissions), expiresOn: new Date(Date.now() + 600_000) }, credential);
const finished = async (file) => {
  for (let tries = 0; tries < 200; ++tries) {
    const shown = await file.getProperties();
    if (shown.copyStatus !== 'pending') return shown;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the copy does not end');
};

test('a file is copied with its metadata and headers', async () => {
  const source = await fileWith(rootOf(share), 'source', 'content', { metadata: { a: '1' },
    fileHttpHeaders: { fileContentType: 'text/plain' } });
  const target = fresh();
  const started = await target.startCopyFromURL(source.url);
  assert.ok(['success', 'pending'].includes(started.copyStatus));
  const shown = await finished(target);
  assert.deepEqual([shown.copyStatus, shown.copyId, shown.copySource], ['success', started.copyId, source.url]);
  assert.equal(shown.copyProgress, '7/7');
  assert.deepEqual([shown.metadata, shown.contentType], [{ a: '1' }, 'text/plain']);
  assert.equal(await textOf(target), 'content');
  // They are two files.
  await source.uploadRange('X', 0, 1);
  assert.equal(await textOf(target), 'content');
  await target.uploadRange('Y', 0, 1);
  assert.equal(await textOf(source), 'Xontent');
});

test('metadata of its own; over an existing file; onto itself', async () => {
  const source = await fileWith(rootOf(share), 'source-2', 'content', { metadata: { a: '1' } });
  const target = await fileWith(rootOf(share), 'there', 'something longer that was there');
  await target.startCopyFromURL(source.url, { metadata: { b: '2' } });
  const shown = await finished(target);
  assert.deepEqual([shown.metadata, shown.contentLength], [{ b: '2' }, 7]);
  assert.equal(await textOf(target), 'content');
  await source.startCopyFromURL(source.url, { metadata: { c: '3' } });
  assert.deepEqual((await finished(source)).metadata, { c: '3' });
  assert.equal(await textOf(source), 'content');
});

test('large files and sparse ones', async () => {
  const source = fresh();
  await source.create(1024 ** 4);
  const bytes = Buffer.alloc(4 * MIB, 'pattern');
  await source.uploadRange(bytes, 5 * MIB, bytes.length);
  await source.uploadRange('end', 1024 ** 4 - 3, 3);
  const target = fresh();
  await target.startCopyFromURL(source.url);
  assert.equal((await finished(target)).contentLength, 1024 ** 4);
  assert.equal(hash(await contentOf(target, 5 * MIB, bytes.length)), hash(bytes));
  assert.equal((await contentOf(target, 1024 ** 4 - 4, 4)).toString(), '\0end');
});

test('from a snapshot and from another share', async () => {
  const other = await freshShare();
  const source = await fileWith(rootOf(other), 'file', 'before');
  const { snapshot } = await other.createSnapshot();
  await source.uploadRange('AFTER!', 0, 6);
  const old = fresh();
  await old.startCopyFromURL(other.withSnapshot(snapshot).rootDirectoryClient.getFileClient('file').url);
  await finished(old);
  assert.equal(await textOf(old), 'before');
  const now = fresh();
  await now.startCopyFromURL(`${source.url}?${token('r', other.name)}`);
  await finished(now);
  assert.equal(await textOf(now), 'AFTER!');
});

test('from a blob', async () => {
  const blobs = new BlobServiceClient(server.blobUrl, new StorageSharedKeyCredential(ACCOUNT, KEY), once);
  const container = blobs.getContainerClient('sources');
  await container.create();
  const blob = container.getBlockBlobClient('blob');
  await blob.upload('from a blob', 11, { blobHTTPHeaders: { blobContentType: 'text/x' } });
  const target = fresh();
  await target.startCopyFromURL(blob.url);
  const shown = await finished(target);
  assert.equal(shown.copyStatus, 'success');
  assert.equal(await textOf(target), 'from a blob');
});

test('sources that cannot be read', async () => {
  const target = fresh();
  const absent = rootOf(share).getFileClient('absent');
  await assert.rejects(target.startCopyFromURL(absent.url), (error) => error.statusCode === 404);
  await assert.rejects(target.startCopyFromURL('not a url'), (error) => error.statusCode === 400);
  assert.equal(await target.exists(), false);
});

test('a copy that breaks off leaves nothing of its length', async () => {
  const web = http.createServer((_, reply) => {
    reply.setHeader('Content-Length', 1000);
    reply.write('abc', () => reply.socket.destroy());
  }).listen(0, '127.0.0.1');
  await event(web, 'listening');
  const target = await fileWith(rootOf(share), 'broken', 'what was there');
  await target.startCopyFromURL(`http://127.0.0.1:${web.address().port}/page`, { metadata: { kept: '1' } });
  const shown = await finished(target);
  web.close();
  assert.deepEqual([shown.copyStatus, shown.contentLength, shown.metadata], ['failed', 0, { kept: '1' }]);
  assert.equal(await textOf(target), '');
});

test('leases and read-only files refuse to be copied over', async () => {
  const source = await fileWith(rootOf(share), 'source-3', 'new');
  const target = await fileWith(rootOf(share), 'guarded', 'old');
  const lease = new ShareLeaseClient(target, randomUUID());
  await lease.acquireLease();
  await assert.rejects(target.startCopyFromURL(source.url), refused(412, 'LeaseIdMissing'));
  await target.startCopyFromURL(source.url, { leaseAccessConditions: { leaseId: lease.leaseId } });
  assert.equal((await finished(target)).leaseState, 'leased');
  await lease.releaseLease();
  await request(server, 'PUT', `/${share.name}/guarded?comp=properties`, { headers: { 'x-ms-file-attributes': 'ReadOnly',
    'x-ms-file-creation-time': 'preserve', 'x-ms-file-last-write-time': 'preserve', 'x-ms-file-permission': 'preserve' } });
  await assert.rejects(target.startCopyFromURL(source.url), refused(409, 'ReadOnlyAttribute'));
  const answer = await request(server, 'PUT', `/${share.name}/guarded`, {
    headers: { 'x-ms-copy-source': source.url, 'x-ms-file-copy-ignore-readonly': 'true' },
  });
  assert.equal(answer.status, 202, answer.text);
});

test('an ended copy cannot be aborted', async () => {
  const source = await fileWith(rootOf(share), 'source-4', 'x');
  const target = fresh();
  const { copyId } = await target.startCopyFromURL(source.url);
  await finished(target);
  await assert.rejects(target.abortCopyFromURL(copyId), refused(409, 'NoPendingCopyOperation'));
  await assert.rejects(fresh().abortCopyFromURL(copyId), refused(404, 'ResourceNotFound'));
});

test('ranges from a URL', async () => {
  const source = await fileWith(rootOf(share), 'source-5', 'abcdefghij');
  const target = await fileWith(rootOf(share), 'pieces', '0123456789');
  const url = `${source.url}?${token()}`;
  await target.uploadRangeFromURL(url, 2, 5, 3);
  assert.equal(await textOf(target), '01234cde89');
  await assert.rejects(target.uploadRangeFromURL(url, 0, 8, 5), refused(416, 'InvalidRange'));
  await assert.rejects(target.uploadRangeFromURL(url, 8, 0, 5), refused(409, 'CannotVerifyCopySource'));
  await assert.rejects(target.uploadRangeFromURL(url, 10, 0, 5), refused(416, 'CannotVerifyCopySource'));
  await assert.rejects(target.uploadRangeFromURL(`${source.url}?${token('w')}`, 0, 0, 1), refused(403, 'CannotVerifyCopySource'));
  const absent = rootOf(share).getFileClient('absent');
  await assert.rejects(target.uploadRangeFromURL(`${absent.url}?${token()}`, 0, 0, 1), refused(404, 'CannotVerifyCopySource'));
  await assert.rejects(absent.uploadRangeFromURL(url, 0, 0, 1), refused(404, 'ResourceNotFound'));
  assert.equal(await textOf(target), '01234cde89');
});

test('dots at the end of a source stay if asked', async () => {
  const kept = (options) => new ShareServiceClient(server.url('File'), credential, { ...once, ...options }).getShareClient(share.name);
  const source = await fileWith(rootOf(kept({ allowTrailingDot: true })), 'dotted.', 'dots');
  const url = `${source.url}?${token()}`;
  const target = (options) => rootOf(kept(options)).getFileClient('from-dotted');
  await target().create(4);
  await assert.rejects(target().uploadRangeFromURL(url, 0, 0, 4), refused(404, 'CannotVerifyCopySource'));
  await target({ allowSourceTrailingDot: true }).uploadRangeFromURL(url, 0, 0, 4);
  assert.equal(await textOf(target()), 'dots');
});

test('a blob is copied from a file, whole and by range', async () => {
  const blobs = new BlobServiceClient(server.blobUrl, new StorageSharedKeyCredential(ACCOUNT, KEY), once);
  const container = blobs.getContainerClient('from-files');
  await container.createIfNotExists();
  const source = fresh();
  await source.create(MIB + 7, { metadata: { a: '1' }, fileHttpHeaders: { fileContentType: 'text/plain' } });
  await source.uploadRange('tail', MIB + 3, 4);
  const copy = container.getBlockBlobClient('copy');
  const poller = await copy.beginCopyFromURL(source.url);
  assert.equal((await poller.pollUntilDone()).copyStatus, 'success');
  const shown = await copy.getProperties();
  assert.deepEqual([shown.contentLength, shown.metadata, shown.contentType, shown.blobType],
    [MIB + 7, { a: '1' }, 'text/plain', 'BlockBlob']);
  assert.deepEqual(await copy.downloadToBuffer(), Buffer.concat([Buffer.alloc(MIB + 3), Buffer.from('tail')]));
  // They are two: what becomes of the file does not touch the blob.
  await source.uploadRange('TAIL', MIB + 3, 4);
  assert.equal((await copy.downloadToBuffer(MIB + 3)).toString(), 'tail');
  const block = Buffer.from('block').toString('base64');
  const parts = container.getBlockBlobClient('parts');
  await parts.stageBlockFromURL(block, `${source.url}?${token('r')}`, MIB + 3, 4);
  await parts.commitBlockList([block]);
  assert.equal((await parts.downloadToBuffer()).toString(), 'TAIL');
  await assert.rejects(parts.stageBlockFromURL(block, source.url, 0, 4), { statusCode: 401 });
});
