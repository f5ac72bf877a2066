// Names and limits of blobs and their metadata.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blobServer, namesOf, picture, refused, refusedUnchanged, request, textOf } from './blob_fixtures.mjs';
import { ACCOUNT } from './server.mjs';

const { server, freshContainer } = await blobServer();

test('names of every kind are kept byte by byte', async () => {
  const container = await freshContainer();
  const names = ['a', 'with space', ' leading', 'trailing ', 'a/b/c', '/slash/first', 'double//slash', 'trailing/', '%41', '100%',
    'a+b', 'a&b=c', 'a?b', 'a#b', 'a:b', "quote'", 'quote"', 'grüße', 'gru\u0308ße', '日本語', '😀/🚀', 'a;b,c', '~tilde',
    '[brackets]{braces}', 'comp=list', 'ümlaut?snapshot=1', '...', 'a/../b', 'UPPER', 'upper', '\u200bzero', '$dollar', '*'];
  // Clients resolve dot segments before they send, so the server never sees those.
  const sent = names.filter((name) => !name.includes('../'));
  for (const name of sent) {
    const blob = container.getBlockBlobClient(name);
    await blob.upload(name, Buffer.byteLength(name), { metadata: { a: 'b' } });
  }
  const listed = await namesOf(container.listBlobsFlat());
  assert.deepEqual(new Set(listed), new Set(sent));
  for (const name of sent) assert.equal(await textOf(container.getBlobClient(name)), name);
  for (const name of sent) await container.getBlobClient(name).delete();
  assert.deepEqual(await namesOf(container.listBlobsFlat()), []);
});

test('a name has at most 1,024 characters, whatever their bytes', async () => {
  const container = await freshContainer();
  for (const letter of ['a', 'ä', '日']) {
    const longest = letter.repeat(1024);
    const blob = container.getBlockBlobClient(longest);
    await blob.upload('x', 1);
    assert.equal(await textOf(blob), 'x');
    await assert.rejects(container.getBlockBlobClient(`${longest}${letter}`).upload('x', 1), refused(400, 'OutOfRangeInput'));
    assert.deepEqual(await namesOf(container.listBlobsFlat()), [longest]);
    await blob.delete();
  }
});

test('a path has at most 254 segments', async () => {
  const container = await freshContainer();
  await container.getBlockBlobClient(Array(254).fill('s').join('/')).upload('x', 1);
  const deeper = container.getBlockBlobClient(Array(255).fill('s').join('/'));
  await assert.rejects(deeper.upload('x', 1), refused(400, 'OutOfRangeInput'));
});

test('paths that are not UTF-8 or not decodable are refused', async () => {
  const container = await freshContainer();
  for (const name of ['%ff', '%c3', 'a%00b', '%zz']) {
    const got = await request(server, 'PUT', `/${ACCOUNT}/${container.containerName}/${name}`,
      { headers: { 'x-ms-blob-type': 'BlockBlob' }, body: 'x' });
    assert.equal(got.status, 400, name);
  }
  assert.deepEqual(await namesOf(container.listBlobsFlat()), []);
});

test('metadata: 8 KiB and not a byte more', async () => {
  const container = await freshContainer();
  const blob = container.getBlockBlobClient('b');
  // Names and values count; several values, since one header line is limited by clients.
  const metadata = (total) => {
    const values = { a1: 'x'.repeat(3000), a2: 'x'.repeat(3000) };
    return { ...values, a3: 'x'.repeat(total - 6006) };
  };
  await blob.upload('x', 1, { metadata: metadata(8192) });
  assert.equal((await blob.getProperties()).metadata.a3.length, 2186);
  await refusedUnchanged(blob, 400, 'MetadataTooLarge', () => blob.upload('y', 1, { metadata: metadata(8193) }));
  await refusedUnchanged(blob, 400, 'MetadataTooLarge', () => blob.setMetadata(metadata(8193)));
  await assert.rejects(container.setMetadata(metadata(8193)), refused(400, 'MetadataTooLarge'));
  assert.deepEqual((await container.getProperties()).metadata, {});
});

test('metadata: names are identifiers', async () => {
  const container = await freshContainer();
  const blob = container.getBlockBlobClient('b');
  await blob.upload('x', 1, { metadata: { _under: '1', Mixed1: '2' } });
  for (const name of ['1digit', 'with-hyphen', 'with.dot']) {
    await refusedUnchanged(blob, 400, 'InvalidMetadata', () => blob.setMetadata({ [name]: 'x' }));
  }
  const path = `${new URL(blob.url).pathname}?comp=metadata`;
  const before = await picture(blob);
  const empty = await request(server, 'PUT', path, { headers: { 'x-ms-meta-': 'x' } });
  assert.equal(empty.status, 400);
  assert.equal(empty.code, 'EmptyMetadataKey');
  assert.deepEqual(await picture(blob), before);
});

test('metadata: case and spaces of values are kept', async () => {
  const container = await freshContainer();
  const blob = container.getBlockBlobClient('b');
  const metadata = { spaced: 'a  b', punctuation: '!#$%&*+-.^_`|~()[]{}<>@,;:\\"/?=' };
  await blob.upload('x', 1, { metadata });
  assert.deepEqual((await blob.getProperties()).metadata, metadata);
});

test('a block blob by one request: the limit depends on the version', async () => {
  const container = await freshContainer();
  const path = `/${ACCOUNT}/${container.containerName}/large`;
  const rows = [['2015-12-11', 64], ['2016-05-31', 256], ['2019-12-12', 5000]];
  for (const [version, mib] of rows) {
    const headers = { 'x-ms-version': version, 'x-ms-blob-type': 'BlockBlob', 'content-length': String(mib * 1024 * 1024 + 1),
      expect: '100-continue' };
    const got = await request(server, 'PUT', path, { headers, body: 'never sent whole' }).catch((error) => error);
    assert.equal(got.status, 413, `${version}: ${got.code}`);
    assert.equal(got.code ?? /<Code>(.*)<\/Code>/.exec(got.text)[1], 'RequestBodyTooLarge');
  }
  assert.deepEqual(await namesOf(container.listBlobsFlat()), []);
});
