// Customer-provided keys: what is written with one is stored encrypted and read with it only.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import https from 'node:https';
import path from 'node:path';
import { test } from 'node:test';
import { BlobSASPermissions } from '@azure/storage-blob';
import { blobServer, contentOf, namesOf, refused, request, signedHeaders } from './blob_fixtures.mjs';
import { ACCOUNT, Server, tlsFlags } from './server.mjs';

// The SDK sends keys over TLS only.
const { server, service, freshContainer } = await blobServer({ flags: await tlsFlags() });
const container = await freshContainer();

const keyOf = (seed) => {
  const key = crypto.createHash('sha256').update(`key ${seed}`).digest();
  return {
    encryptionKey: key.toString('base64'),
    encryptionKeySha256: crypto.createHash('sha256').update(key).digest('base64'),
    encryptionAlgorithm: 'AES256',
  };
};
const [key, other] = [keyOf(1), keyOf(2)];
const withKey = { customerProvidedKey: key };
const USES = 'BlobUsesCustomerSpecifiedEncryption';
const USES_NOT = 'BlobDoesNotUseCustomerSpecifiedEncryption';
const MISMATCH = 'BlobCustomerSpecifiedEncryptionMismatch';
const MIB = 1024 * 1024;

async function uploaded(name, content = Buffer.from('secret')) {
  const blob = container.getBlockBlobClient(name);
  const reply = await blob.upload(content, content.length, withKey);
  return { blob, reply };
}

test('a blob is read with its key and with no other', async () => {
  const content = crypto.randomBytes(3 * MIB + 17);
  const { blob, reply } = await uploaded('whole', content);
  assert.equal(reply.encryptionKeySha256, key.encryptionKeySha256);
  assert.equal(reply.isServerEncrypted, true);

  const download = await blob.download(0, undefined, withKey);
  assert.equal(download.encryptionKeySha256, key.encryptionKeySha256);
  assert.deepEqual(await contentOf(blob, 0, undefined, withKey), content);
  for (const [from, count] of [[0, 1], [15, 2], [256 * 1024 - 3, 7], [content.length - 1, 1], [100_001, 1_000_003]]) {
    assert.deepEqual(await contentOf(blob, from, count, withKey), content.subarray(from, from + count));
  }
  const hashed = await blob.download(5, 1000, { ...withKey, rangeGetContentMD5: true });
  assert.equal(Buffer.from(hashed.contentMD5).toString('hex'),
    crypto.createHash('md5').update(content.subarray(5, 1005)).digest('hex'));
  hashed.readableStreamBody.resume();
  const shown = await blob.getProperties(withKey);
  assert.equal(shown.contentLength, content.length);
  assert.equal(shown.encryptionKeySha256, key.encryptionKeySha256);

  const wrong = { customerProvidedKey: other };
  await assert.rejects(blob.download(), refused(409, USES));
  await assert.rejects(blob.download(0, undefined, wrong), refused(409, MISMATCH));
  await assert.rejects(blob.getProperties(), refused(409, USES));
  await assert.rejects(blob.getProperties(wrong), refused(409, MISMATCH));
});

test('a key for a blob that has none', async () => {
  const blob = container.getBlockBlobClient('plain');
  await blob.upload('open', 4);
  await assert.rejects(blob.download(0, undefined, withKey), refused(409, USES_NOT));
  await assert.rejects(blob.getProperties(withKey), refused(409, USES_NOT));
  await assert.rejects(blob.setMetadata({ a: 'b' }, withKey), refused(409, USES_NOT));
  assert.equal((await contentOf(blob)).toString(), 'open');
});

test('metadata, properties and snapshots', async () => {
  const { blob } = await uploaded('state');
  await assert.rejects(blob.setMetadata({ a: 'b' }), refused(409, USES));
  await blob.setMetadata({ a: 'b' }, withKey);
  assert.equal((await blob.getProperties(withKey)).metadata.a, 'b');
  await assert.rejects(blob.createSnapshot(), refused(409, USES));
  const { snapshot } = await blob.createSnapshot(withKey);
  await blob.upload('later', 5);
  assert.equal((await contentOf(blob)).toString(), 'later', 'a blob may be replaced by one without a key');
  const former = blob.withSnapshot(snapshot);
  assert.equal((await contentOf(former, 0, undefined, withKey)).toString(), 'secret');
  await assert.rejects(former.download(), refused(409, USES));
});

test('blocks are committed with the key they were staged with', async () => {
  const blob = container.getBlockBlobClient('blocks');
  const [one, two] = [crypto.randomBytes(300_000), crypto.randomBytes(5)];
  const ids = ['AAAA', 'BBBB'];
  const staged = await blob.stageBlock(ids[0], one, one.length, withKey);
  assert.equal(staged.encryptionKeySha256, key.encryptionKeySha256);
  await blob.stageBlock(ids[1], two, two.length, withKey);
  await assert.rejects(blob.commitBlockList(ids), refused(409, USES));
  await assert.rejects(blob.commitBlockList(ids, { customerProvidedKey: other }), refused(409, MISMATCH));
  const committed = await blob.commitBlockList(ids, withKey);
  assert.equal(committed.encryptionKeySha256, key.encryptionKeySha256);
  assert.deepEqual(await contentOf(blob, 0, undefined, withKey), Buffer.concat([one, two]));

  // The blocks of the blob as it is, and one more.
  await blob.stageBlock('CCCC', 'tail', 4);
  await assert.rejects(blob.commitBlockList([...ids, 'CCCC'], withKey), refused(409, USES_NOT));
  await blob.stageBlock('CCCC', 'tail', 4, withKey);
  await blob.commitBlockList(['CCCC', ...ids], withKey);
  assert.deepEqual(await contentOf(blob, 0, undefined, withKey), Buffer.concat([Buffer.from('tail'), one, two]));
});

test('append blobs', async () => {
  const blob = container.getAppendBlobClient('appended');
  await blob.create(withKey);
  const parts = [crypto.randomBytes(10), crypto.randomBytes(20_000), crypto.randomBytes(1)];
  for (const part of parts) await blob.appendBlock(part, part.length, withKey);
  await assert.rejects(blob.appendBlock('x', 1), refused(409, USES));
  await assert.rejects(blob.appendBlock('x', 1, { customerProvidedKey: other }), refused(409, MISMATCH));
  assert.deepEqual(await contentOf(blob, 0, undefined, withKey), Buffer.concat(parts));
});

test('pages are written over, cleared and read at any offset', async () => {
  const blob = container.getPageBlobClient('pages');
  const model = Buffer.alloc(2 * MIB);
  await blob.create(model.length, withKey);
  for (let step = 0; step < 60; ++step) {
    const count = 512 * (1 + (step * 7) % 40);
    const at = (((step * 7919) % (model.length - count)) / 512 | 0) * 512;
    if (step % 9 === 8) {
      await blob.clearPages(at, count, withKey);
      model.fill(0, at, at + count);
    } else {
      const bytes = crypto.randomBytes(count);
      await blob.uploadPages(bytes, at, count, withKey);
      bytes.copy(model, at);
    }
  }
  assert.deepEqual(await contentOf(blob, 0, undefined, withKey), model);
  assert.deepEqual(await contentOf(blob, 511, 70_000, withKey), model.subarray(511, 70_511));
  await assert.rejects(blob.uploadPages(Buffer.alloc(512), 0, 512), refused(409, USES));
  await assert.rejects(blob.clearPages(0, 512, { customerProvidedKey: other }), refused(409, MISMATCH));
  assert.ok((await blob.getPageRanges()).pageRange.length > 0, 'which pages there are is no secret');
  await blob.resize(MIB, withKey);
  assert.deepEqual(await contentOf(blob, 0, undefined, withKey), model.subarray(0, MIB));
});

test('copies are encrypted and decrypted on the way', async () => {
  const content = crypto.randomBytes(600_000);
  const plain = container.getBlockBlobClient('copy-plain');
  await plain.upload(content, content.length);
  const { blob: sealed } = await uploaded('copy-sealed', content);
  const readable = (blob) =>
    blob.generateSasUrl({ permissions: BlobSASPermissions.parse('r'), expiresOn: new Date(Date.now() + 600_000) });
  const [plainUrl, sealedUrl] = await Promise.all([readable(plain), readable(sealed)]);

  const blob = container.getBlockBlobClient('copy');
  await blob.syncUploadFromURL(plainUrl, withKey);
  assert.deepEqual(await contentOf(blob, 0, undefined, withKey), content);
  await assert.rejects(blob.download(), refused(409, USES));

  const headers = {
    'x-ms-source-encryption-key': key.encryptionKey,
    'x-ms-source-encryption-key-sha256': key.encryptionKeySha256,
    'x-ms-source-encryption-algorithm': 'AES256',
  };
  const own = (given) => ({
    'x-ms-encryption-key': given.encryptionKey,
    'x-ms-encryption-key-sha256': given.encryptionKeySha256,
    'x-ms-encryption-algorithm': 'AES256',
  });
  const put = (name, url, more) =>
    secureRequest('PUT', `/${ACCOUNT}/${container.containerName}/${name}`,
      { 'x-ms-blob-type': 'BlockBlob', 'x-ms-copy-source': url, ...more });
  for (const [name, more, reading] of [
    ['opened', headers, {}],
    ['same-key', { ...headers, ...own(key) }, withKey],
    ['new-key', { ...headers, ...own(other) }, { customerProvidedKey: other }],
  ]) {
    const got = await put(name, sealedUrl, more);
    assert.equal(got.status, 201, got.text);
    assert.deepEqual(await contentOf(container.getBlobClient(name), 0, undefined, reading), content, name);
  }
  assert.equal((await put('refused', sealedUrl, {})).status, 409);
  assert.equal((await put('refused', plainUrl, headers)).status, 409);

  // Copy Blob has no way to name keys.
  await assert.rejects(container.getBlobClient('async').beginCopyFromURL(sealedUrl), (error) => error.statusCode === 409);
  const unable = await secureRequest('PUT', `/${ACCOUNT}/${container.containerName}/async`,
    { 'x-ms-copy-source': plainUrl, ...own(key) });
  assert.equal(unable.status, 400);
  assert.equal(unable.code, 'UnsupportedHeader');

  const pages = container.getPageBlobClient('copy-pages');
  await pages.create(1024, withKey);
  await pages.uploadPagesFromURL(plainUrl, 0, 0, 1024, withKey);
  assert.deepEqual(await contentOf(pages, 0, undefined, withKey), content.subarray(0, 1024));
  const appended = container.getAppendBlobClient('copy-append');
  await appended.create(withKey);
  await appended.appendBlockFromURL(plainUrl, 100, 50_000, withKey);
  assert.deepEqual(await contentOf(appended, 0, undefined, withKey), content.subarray(100, 50_100));
  const blocks = container.getBlockBlobClient('copy-block');
  await blocks.stageBlockFromURL('AAAA', plainUrl, 7, 9000, withKey);
  await blocks.commitBlockList(['AAAA'], withKey);
  assert.deepEqual(await contentOf(blocks, 0, undefined, withKey), content.subarray(7, 9007));
});

// A signed request over TLS.
async function secureRequest(method, target, headers) {
  const { hostname, port } = new URL(server.blobUrl);
  const all = signedHeaders(method, target, { headers: { 'x-ms-version': '2026-04-06', ...headers }, length: 0 });
  const response = await new Promise((resolve, reject) => {
    https.request({ hostname, port, method, path: target, headers: all }, resolve).on('error', reject).end();
  });
  let text = '';
  for await (const part of response) text += part;
  return { status: response.statusCode, code: response.headers['x-ms-error-code'], text };
}

test('malformed keys are refused and not repeated', async () => {
  const target = `/${ACCOUNT}/${container.containerName}/whole`;
  const right = {
    'x-ms-encryption-key': key.encryptionKey,
    'x-ms-encryption-key-sha256': key.encryptionKeySha256,
    'x-ms-encryption-algorithm': 'AES256',
  };
  const short = Buffer.alloc(16, 7).toString('base64');
  const rows = [
    [{ 'x-ms-encryption-key': undefined }, 'MissingRequiredHeader'],
    [{ 'x-ms-encryption-key-sha256': undefined }, 'MissingRequiredHeader'],
    [{ 'x-ms-encryption-algorithm': undefined }, 'MissingRequiredHeader'],
    [{ 'x-ms-encryption-algorithm': 'AES128' }, 'InvalidHeaderValue'],
    [{ 'x-ms-encryption-key': short }, 'InvalidHeaderValue'],
    [{ 'x-ms-encryption-key': 'no base64!' }, 'InvalidHeaderValue'],
    [{ 'x-ms-encryption-key-sha256': other.encryptionKeySha256 }, 'InvalidHeaderValue'],
  ];
  for (const [change, code] of rows) {
    const got = await secureRequest('GET', target, { ...right, ...change });
    assert.equal(got.status, 400, JSON.stringify(change));
    assert.equal(got.code, code);
    for (const secret of [key.encryptionKey, short]) assert.ok(!got.text.includes(secret));
  }
});

test('encryption scopes are refused', async () => {
  const blob = container.getBlockBlobClient('scoped');
  await assert.rejects(blob.upload('x', 1, { encryptionScope: 'mine' }), refused(409, 'EncryptionScopeNotAvailable'));
  const box = service.getContainerClient('scoped');
  const scope = { containerEncryptionScope: { defaultEncryptionScope: 'mine' } };
  await assert.rejects(box.create(scope), refused(409, 'EncryptionScopeNotAvailable'));
  scope.containerEncryptionScope.defaultEncryptionScope = '$account-encryption-key';
  await box.create(scope);
});

test('a listing tells which blobs have a key', async () => {
  const { blob } = await uploaded('listed');
  for await (const item of container.listBlobsFlat({ prefix: 'listed' })) {
    assert.equal(item.name, blob.name);
    assert.equal(item.properties.customerProvidedKeySha256, key.encryptionKeySha256);
  }
  assert.deepEqual(await namesOf(container.listBlobsFlat({ prefix: 'listed' })), ['listed']);
});

test('neither content nor key is on the disk, nor in the log', async () => {
  const plain = await Server.start();
  try {
    const send = async (name, content, headers) => {
      const target = `/${ACCOUNT}/box/${name}`;
      return request(plain, 'PUT', target, { headers: { 'x-ms-blob-type': 'BlockBlob', ...headers }, body: content });
    };
    assert.equal((await request(plain, 'PUT', `/${ACCOUNT}/box?restype=container`)).status, 201);
    const secrets = ['seen-small', 'seen-large'].map((word) => Buffer.from(word.repeat(10)));
    const bodies = [secrets[0], Buffer.alloc(MIB, secrets[1])];
    const headers = {
      'x-ms-encryption-key': key.encryptionKey,
      'x-ms-encryption-key-sha256': key.encryptionKeySha256,
      'x-ms-encryption-algorithm': 'AES256',
    };
    for (const [index, body] of bodies.entries()) {
      assert.equal((await send(`open-${index}`, body, {})).status, 201);
    }
    const everywhere = async () => {
      const files = await readdir(plain.location, { recursive: true, withFileTypes: true });
      const contents = await Promise.all(files.filter((file) => file.isFile())
        .map((file) => readFile(path.join(file.parentPath ?? file.path, file.name))));
      return Buffer.concat(contents);
    };
    const before = await everywhere();
    for (const secret of secrets) assert.ok(before.includes(secret), 'the search finds what is stored as it is');

    const sealed = ['hidden-small', 'hidden-large'].map((word) => Buffer.from(word.repeat(10)));
    assert.equal((await send('sealed-0', sealed[0], headers)).status, 201);
    assert.equal((await send('sealed-1', Buffer.alloc(MIB, sealed[1]), headers)).status, 201);
    await plain.kill();
    const after = await everywhere();
    const raw = Buffer.from(key.encryptionKey, 'base64');
    for (const secret of [...sealed, raw, Buffer.from(key.encryptionKey)]) assert.ok(!after.includes(secret));
    for (const text of [plain.log, plain.output]) assert.ok(!text.includes(key.encryptionKey));
  } finally {
    await plain.kill();
  }
});
