// Copies whose source is not simply a blob beside the target: of another account, of another server, at a private address,
// of a gigabyte, in increments. blob_copy.test.mjs has the rest.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import http from 'node:http';
import { after, test } from 'node:test';
import {
  BlobSASPermissions, BlobServiceClient, StorageSharedKeyCredential, generateBlobSASQueryParameters,
} from '@azure/storage-blob';
import { contentOf, hash, once, refused, refusedUnchanged, textOf } from './blob_fixtures.mjs';
import { Server } from './server.mjs';

const MIB = 1024 * 1024;
const keyOf = (name) => crypto.createHash('sha512').update(name).digest('base64');
const accounts = ['here', 'there'];
const env = { AZURITE_ACCOUNTS: accounts.map((name) => `${name}:${keyOf(name)}`).join(';') };
const credentials = Object.fromEntries(
  accounts.map((name) => [name, new StorageSharedKeyCredential(name, keyOf(name))]));
const serviceOf = (server, account) =>
  new BlobServiceClient(server.blobUrl.replace(/[^/]+$/, account), credentials[account], once);
const sasUrl = (blob, account, permissions = 'r') => {
  const sas = generateBlobSASQueryParameters({ containerName: blob.containerName, blobName: blob.name,
    expiresOn: new Date(Date.now() + 600_000), permissions: BlobSASPermissions.parse(permissions) }, credentials[account]);
  return `${blob.url.split('?')[0]}?${sas}`;
};

// One server that keeps to itself, and one that may read from this machine.
const careful = await Server.forThisFile({ env });
const open = await Server.forThisFile({ env, flags: ['--copyFromPrivateAddresses'] });
const containerOn = async (server, account, name, options) => {
  const container = serviceOf(server, account).getContainerClient(name);
  await container.createIfNotExists(options);
  return container;
};
const targets = await containerOn(open, 'here', 'targets');
let counter = 0;
const target = (container = targets) => container.getBlockBlobClient(`target-${counter++}`);

// Another web server, which does what the path says.
const slow = new Map(); // By URL: what ends the last reply to it.
const web = http.createServer((request, reply) => {
  web.asked.push(request);
  const name = request.url.slice(1).split('?')[0];
  if (name === 'page') {
    reply.setHeader('Content-Type', 'text/plain');
    reply.setHeader('Content-Language', 'en');
    reply.setHeader('ETag', '"tag"');
    if (request.headers['if-match'] && request.headers['if-match'] !== '"tag"') reply.writeHead(412);
    if (request.headers['if-none-match'] === '"tag"') reply.writeHead(304);
    return reply.end(reply.headersSent ? undefined : 'a web page');
  }
  if (name === 'range') {
    const [, first, last] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? [];
    if (first === undefined) return reply.end('0123456789');
    return reply.writeHead(206).end('0123456789'.slice(first, last === '' ? undefined : Number(last) + 1));
  }
  if (name === 'no-ranges') return reply.end('0123456789');
  if (name === 'large') {
    reply.setHeader('Content-Length', 40 * MIB);
    for (let i = 0; i < 40; ++i) reply.write(Buffer.alloc(MIB, i));
    return reply.end();
  }
  if (name === 'slow') {
    reply.setHeader('Content-Length', 6);
    reply.write('abc');
    slow.set(request.url, () => reply.end('def'));
    return undefined;
  }
  if (name === 'broken') {
    reply.setHeader('Content-Length', 100);
    reply.write('abc', () => reply.socket.destroy());
    return undefined;
  }
  if (name.startsWith('hop')) {
    const hops = Number(name.slice(3));
    return reply.writeHead(302, { Location: hops === 1 ? '/page' : `/hop${hops - 1}` }).end();
  }
  if (name === 'inside') return reply.writeHead(302, { Location: 'http://169.254.169.254/latest/' }).end();
  return reply.writeHead(/^\d{3}$/.test(name) ? Number(name) : 404).end();
});
web.asked = [];
await new Promise((resolve) => web.listen(0, '127.0.0.1', resolve));
after(() => web.close());
after(() => web.closeAllConnections());
const webUrl = (path) => `http://127.0.0.1:${web.address().port}/${path}`;

// A page that sends half and waits. A copy asks for it twice: to see that it is there, and in the background for its bytes.
const slowPage = () => `slow?${counter++}`;
async function wasAsked(page, times) {
  while (web.asked.filter(({ url }) => url === `/${page}`).length < times) await pause();
}
async function sendRest(page, asked = 2) {
  await wasAsked(page, asked);
  slow.get(`/${page}`)();
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
const copy = async (to, url, options) =>
  (await to.beginCopyFromURL(url, { intervalInMs: 10, ...options })).pollUntilDone();
async function settled(blob) {
  for (;;) {
    const shown = await blob.getProperties();
    if (shown.copyStatus !== 'pending') return shown;
    await pause();
  }
}

const FROM_URL = {
  'Copy Blob': copy,
  'Copy Blob From URL': (to, url, options) => to.syncCopyFromURL(url, options),
  'Put Blob From URL': (to, url, options) => to.syncUploadFromURL(url, options),
  'Put Block From URL': async (to, url, options) => {
    await to.stageBlockFromURL('AAAA', url, 0, undefined, options);
    await to.commitBlockList(['AAAA']);
  },
};

for (const [name, run] of Object.entries(FROM_URL)) {
  test(`${name} from another account needs its SAS`, async () => {
    const sources = await containerOn(open, 'there', 'private');
    const from = sources.getBlockBlobClient('source');
    await from.upload('of another', 10);
    const to = target();
    await assert.rejects(run(to, from.url), refused(401, 'CannotVerifyCopySource'));
    await assert.rejects(run(to, sasUrl(from, 'there', 'w')), refused(403, 'CannotVerifyCopySource'));
    await assert.rejects(run(to, sasUrl(from, 'there').replace(/sig=.../, 'sig=AAA')), refused(403, 'CannotVerifyCopySource'));
    await run(to, sasUrl(from, 'there'));
    assert.equal(await textOf(to), 'of another');
  });

  test(`${name} from a public container needs nothing`, async () => {
    const sources = await containerOn(open, 'there', 'public', { access: 'blob' });
    const from = sources.getBlockBlobClient('source');
    await from.upload('for all', 7);
    const to = target();
    await run(to, from.url);
    assert.equal(await textOf(to), 'for all');
  });

  test(`${name} from another server`, async () => {
    const to = target();
    await run(to, webUrl('page'));
    const shown = await settled(to);
    assert.equal(await textOf(to), 'a web page');
    if (name !== 'Put Block From URL') assert.equal(shown.contentType, 'text/plain');
    await run(to, webUrl('hop5'));
    await settled(to);
    assert.equal(await textOf(to), 'a web page');
  });

  test(`${name} from another server that refuses`, async () => {
    for (const status of [401, 403, 404, 409, 416]) {
      await assert.rejects(run(target(), webUrl(String(status))), refused(status, 'CannotVerifyCopySource'));
    }
    await assert.rejects(run(target(), webUrl('503')), refused(500, 'CannotVerifyCopySource'));
    await assert.rejects(run(target(), webUrl('hop6')), refused(400, 'CannotVerifyCopySource'));
    await assert.rejects(run(target(), 'http://127.0.0.1:1/nobody'), refused(500, 'CannotVerifyCopySource'));
  });

  test(`${name} does not reach into the operator's network`, async () => {
    const container = await containerOn(careful, 'here', 'careful');
    const before = web.asked.length;
    const port = web.address().port;
    const adminPort = new URL(careful.adminUrl).port;
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '127.1', '0.0.0.0', '10.0.0.1',
      '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', '[fd00::1]', '[fe80::1]', '224.0.0.1']) {
      await assert.rejects(run(target(container), `http://${host}:${port}/page`), refused(403, 'CannotVerifyCopySource'), host);
    }
    await assert.rejects(run(target(container), `http://127.0.0.1:${adminPort}/metrics`), refused(403, 'CannotVerifyCopySource'));
    assert.equal(web.asked.length, before);
  });
}

test('the account key stands for sources of the account in Copy Blob only', async () => {
  const from = targets.getBlockBlobClient('own');
  await from.upload('own', 3);
  await copy(target(), from.url);
  await assert.rejects(target().syncCopyFromURL(from.url), refused(401, 'CannotVerifyCopySource'));
  await assert.rejects(copy(target(), targets.getBlockBlobClient('none').url), refused(404, 'BlobNotFound'));
});

test('what the source needs and what it is asked', async () => {
  const before = web.asked.length;
  await target().syncCopyFromURL(webUrl('page?key=1'));
  const { headers, url, method } = web.asked[before];
  assert.equal(method, 'GET');
  assert.equal(url, '/page?key=1');
  assert.equal(headers.authorization, undefined);
  assert.deepEqual(Object.keys(headers).filter((name) => name.startsWith('x-ms-')), []);
  const token = { sourceAuthorization: { scheme: 'Bearer', value: 'secret' } };
  await target().syncCopyFromURL(webUrl('page'), token);
  assert.equal(web.asked.at(-1).headers.authorization, undefined); // Not over plain HTTP.
});

test('conditions are left to the other server', async () => {
  const sourceConditions = (ifMatch, ifNoneMatch) => ({ sourceConditions: { ifMatch, ifNoneMatch } });
  await target().syncCopyFromURL(webUrl('page'), sourceConditions('"tag"'));
  await assert.rejects(target().syncCopyFromURL(webUrl('page'), sourceConditions('"other"')), refused(412, 'CannotVerifyCopySource'));
  await assert.rejects(target().syncCopyFromURL(webUrl('page'), sourceConditions(undefined, '"tag"')), refused(304, 'CannotVerifyCopySource'));
  await assert.rejects(copy(target(), webUrl('page'), sourceConditions('"other"')), refused(412, 'SourceConditionNotMet'));
});

test('parts of what another server has', async () => {
  for (const page of ['range', 'no-ranges']) {
    const to = target();
    await to.stageBlockFromURL('AAAA', webUrl(page), 2, 3);
    await to.commitBlockList(['AAAA']);
    assert.equal(await textOf(to), '234', page);
    await assert.rejects(to.stageBlockFromURL('BBBB', webUrl(page), 0, undefined, {
      sourceContentMD5: crypto.createHash('md5').update('x').digest() }), refused(400, 'Md5Mismatch'));
  }
});

test('a copy from another server is pending until it is done', async () => {
  const to = target();
  const page = slowPage();
  const started = await to.beginCopyFromURL(webUrl(page), { intervalInMs: 10 });
  const pending = await to.getProperties();
  assert.equal(pending.copyStatus, 'pending');
  assert.equal(pending.copyProgress, '0/6');
  assert.equal(pending.contentLength, 0);
  await refusedUnchanged(to, 409, 'PendingCopyOperation', () => to.upload('x', 1));
  await refusedUnchanged(to, 409, 'PendingCopyOperation', () => to.getBlobLeaseClient().acquireLease(15));
  await assert.rejects(to.beginCopyFromURL(webUrl('page')), refused(409, 'PendingCopyOperation'));
  await assert.rejects(to.abortCopyFromURL(crypto.randomUUID()), refused(409, 'CopyIdMismatch'));
  await sendRest(page);
  const done = await started.pollUntilDone();
  assert.equal(done.copyStatus, 'success');
  const shown = await to.getProperties();
  assert.equal(shown.copyProgress, '6/6');
  assert.notEqual(shown.etag, pending.etag);
  assert.equal(await textOf(to), 'abcdef');
});

test('a pending copy can be aborted', async () => {
  const to = target();
  const page = slowPage();
  await to.beginCopyFromURL(webUrl(page), { metadata: { kept: '1' }, intervalInMs: 10 });
  const { copyId } = await to.getProperties();
  await to.abortCopyFromURL(copyId);
  const shown = await to.getProperties();
  assert.equal(shown.copyStatus, 'aborted');
  assert.equal(shown.contentLength, 0);
  assert.deepEqual(shown.metadata, { kept: '1' });
  await assert.rejects(to.abortCopyFromURL(copyId), refused(409, 'NoPendingCopyOperation'));
  await to.upload('free', 4);
  await sendRest(page);
  // What is fetched after this was queued behind what came too late.
  await copy(target(), webUrl('page'));
  assert.equal(await textOf(to), 'free');
});

test('a copy that breaks off has failed', async () => {
  const to = target();
  await to.beginCopyFromURL(webUrl('broken'), { intervalInMs: 10 });
  const shown = await settled(to);
  assert.equal(shown.copyStatus, 'failed');
  assert.match(shown.copyStatusDescription, /^500 CannotVerifyCopySource /);
  assert.equal(shown.contentLength, 0);
  await to.upload('free', 4);
});

test('a pending copy goes on after the server was killed', async () => {
  const first = await Server.start({ env, flags: ['--copyFromPrivateAddresses'] });
  const container = await containerOn(first, 'here', 'restarts');
  const name = target(container).name;
  const page = slowPage();
  await container.getBlockBlobClient(name).beginCopyFromURL(webUrl(page), { intervalInMs: 10 });
  await wasAsked(page, 2);
  await first.kill();
  const second = await Server.start({ env, location: first.location, flags: ['--copyFromPrivateAddresses'] });
  const to = serviceOf(second, 'here').getContainerClient('restarts').getBlockBlobClient(name);
  assert.equal((await to.getProperties()).copyStatus, 'pending');
  await sendRest(page, 3);
  assert.equal((await settled(to)).copyStatus, 'success');
  assert.equal(await textOf(to), 'abcdef');
  await second.stop();
});

test('a large source of another server', async () => {
  const to = target();
  await copy(to, webUrl('large'));
  const expected = crypto.createHash('sha256');
  for (let i = 0; i < 40; ++i) expected.update(Buffer.alloc(MIB, i));
  assert.equal(hash(await contentOf(to)), expected.digest('hex'));
});

test('a gigabyte is copied in milliseconds', async () => {
  const from = targets.getBlockBlobClient('gigabyte');
  const block = crypto.randomBytes(64 * MIB);
  const ids = Array.from({ length: 16 }, (_, i) => Buffer.from(`block-${i}`.padEnd(8)).toString('base64'));
  for (const id of ids) await from.stageBlock(id, block, block.length);
  await from.commitBlockList(ids);
  const to = target();
  await copy(to, from.url); // Warms up nothing but the connection.
  const began = performance.now();
  const { copyStatus } = await copy(to, from.url);
  const took = performance.now() - began;
  assert.equal(copyStatus, 'success');
  assert.ok(took < 500, `took ${took} ms`);
  assert.equal((await to.getProperties()).contentLength, 1024 * MIB);
  assert.equal((await to.getBlockList('committed')).committedBlocks.length, 16);
  assert.equal(hash(await contentOf(to, 960 * MIB)), hash(block));
});

test('a blob copied onto itself', async () => {
  const blob = target();
  await blob.upload('same', 4, { metadata: { a: '1' } });
  const { etag } = await blob.getProperties();
  await copy(blob, blob.url, { metadata: { b: '2' } });
  const shown = await blob.getProperties();
  assert.deepEqual(shown.metadata, { b: '2' });
  assert.notEqual(shown.etag, etag);
  assert.equal(await textOf(blob), 'same');
});

test('types that do not fit', async () => {
  const page = targets.getPageBlobClient('pages');
  await page.create(512);
  const block = target();
  await block.upload('x', 1);
  await refusedUnchanged(block, 409, 'InvalidBlobType', () => copy(block, page.url));
  await assert.rejects(target().syncCopyFromURL(sasUrl(page, 'here')), refused(409, 'InvalidSourceBlobType'));
});

test('archived sources come back as copies only', async () => {
  const from = target();
  await from.upload('cold', 4, { tier: 'Archive' });
  await assert.rejects(copy(target(), from.url), refused(409, 'BlobArchived'));
  await assert.rejects(target().syncCopyFromURL(sasUrl(from, 'here')), refused(409, 'CannotVerifyCopySource'));
  const to = target();
  await copy(to, from.url, { tier: 'Hot', rehydratePriority: 'High' });
  const shown = await to.getProperties();
  assert.equal(shown.archiveStatus, 'rehydrate-pending-to-hot');
  assert.equal(shown.rehydratePriority, 'High');
});

test('a finite lease is not enough for the target of Copy Blob', async () => {
  const to = target();
  await to.upload('leased', 6);
  const { leaseId } = await to.getBlobLeaseClient().acquireLease(15);
  const from = target();
  await from.upload('x', 1);
  await refusedUnchanged(to, 412, 'InfiniteLeaseDurationRequired', () => copy(to, from.url, { conditions: { leaseId } }));
});

test('a permission to read tags is none to read the blob, and the other way round', async () => {
  const from = target();
  await from.upload('secret', 6, { tags: { colour: 'blue' } });
  const tagsOnly = `${sasUrl(from, 'here', 't')}&comp=tags`;
  for (const run of Object.values(FROM_URL)) {
    await assert.rejects(run(target(), tagsOnly), (error) => error.code === 'CannotVerifyCopySource');
  }
  const to = target();
  await assert.rejects(to.syncCopyFromURL(sasUrl(from, 'here'), { copySourceTags: 'COPY' }), refused(403, 'CannotVerifyCopySource'));
  await to.syncCopyFromURL(sasUrl(from, 'here', 'rt'), { copySourceTags: 'COPY' });
  assert.deepEqual((await to.getTags()).tags, { colour: 'blue' });
});

test('the SAS of the source does not show in the copy', async () => {
  const from = target();
  await from.upload('x', 1);
  const to = target();
  await copy(to, sasUrl(from, 'here'));
  const { copySource } = await to.getProperties();
  assert.ok(copySource.startsWith(from.url));
  assert.doesNotMatch(copySource, /sig=/);
});

test('incremental copies follow the snapshots of a page blob', async () => {
  const disk = targets.getPageBlobClient('disk');
  await disk.create(2048);
  const snapshot = async (fill) => {
    await disk.uploadPages(Buffer.alloc(512, fill), 512 * fill, 512);
    return disk.withSnapshot((await disk.createSnapshot()).snapshot);
  };
  const backup = targets.getPageBlobClient('backup');
  const first = await snapshot(0);
  const second = await snapshot(1);
  await assert.rejects(backup.startCopyIncremental(disk.url), refused(409, 'IncrementalCopySourceMustBeSnapshot'));
  await assert.rejects(backup.startCopyIncremental(webUrl('page')), refused(409, 'InvalidSourceBlobUrl'));
  for (const from of [first, second]) {
    await backup.startCopyIncremental(from.url);
    const shown = await backup.getProperties();
    assert.equal(shown.copyStatus, 'success');
    assert.equal(shown.isIncrementalCopy, true);
    const kept = backup.withSnapshot(shown.destinationSnapshot);
    assert.ok((await contentOf(kept)).equals(await contentOf(from)));
  }
  await assert.rejects(backup.startCopyIncremental(first.url), refused(409, 'IncrementalCopyOfEarlierSnapshotNotAllowed'));
  await assert.rejects(backup.uploadPages(Buffer.alloc(512), 0, 512), refused(409, 'OperationNotAllowedOnIncrementalCopyBlob'));
  const other = targets.getPageBlobClient('other-disk');
  await other.create(512);
  const elsewhere = other.withSnapshot((await other.createSnapshot()).snapshot);
  await assert.rejects(backup.startCopyIncremental(elsewhere.url), refused(409, 'IncrementalCopyBlobMismatch'));
});
