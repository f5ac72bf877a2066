// Names of files and directories: case, characters, lengths, dots, depth.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShareServiceClient } from '@azure/storage-file-share';
import { credential, entriesOf, fileServer, fileWith, once, refused, request, rootOf, textOf } from './file_fixtures.mjs';

const { server, freshShare } = await fileServer();

test('names are found in any case and keep the case they were given', async () => {
  const share = await freshShare();
  await fileWith(rootOf(share), 'ReadMe.TXT', 'text');
  await share.createDirectory('Straße');
  assert.equal(await textOf(rootOf(share).getFileClient('README.txt')), 'text');
  assert.equal(await share.getDirectoryClient('STRAßE').exists(), true);
  assert.deepEqual(await entriesOf(rootOf(share)), ['ReadMe.TXT', 'Straße/']);
  await fileWith(share.getDirectoryClient('strAßE'), 'inside', 'x');
  assert.deepEqual(await entriesOf(share.getDirectoryClient('Straße')), ['inside']);
  for (const [name, other] of [['ÄÖÜ', 'äöü'], ['ΑΒΓ', 'αβγ'], ['Жук', 'жУК']]) {
    await fileWith(rootOf(share), name, name);
    assert.equal(await textOf(rootOf(share).getFileClient(other)), name);
  }
});

test('characters', async () => {
  const share = await freshShare();
  for (const name of ['with space', 'plus+plus', '100%', 'a&b=c', "it's", '#hash', 'ünïcödé', '日本語', 'a;b,c', '~$x', '{}[]()', '.hidden', 'a..b']) {
    await fileWith(rootOf(share), name, name);
    assert.equal(await textOf(rootOf(share).getFileClient(name)), name);
    await rootOf(share).getFileClient(name).delete();
  }
  for (const name of ['a"b', 'a<b', 'a>b', 'a|b', 'a*b', 'a:b', 'a\\b', 'a?b', 'tab\there']) {
    const { status, code } = await request(server, 'PUT', `/${share.name}/${encodeURIComponent(name)}`, {
      headers: { 'x-ms-type': 'file', 'x-ms-content-length': '1' },
    });
    assert.deepEqual([status, code], [400, 'InvalidResourceName'], name);
  }
  assert.deepEqual(await entriesOf(rootOf(share)), []);
});

test('lengths', async () => {
  const share = await freshShare();
  const long = 'n'.repeat(255);
  await fileWith(rootOf(share), long, 'x');
  assert.deepEqual(await entriesOf(rootOf(share)), [long]);
  await assert.rejects(rootOf(share).getFileClient(`${long}n`).create(1), (error) => error.statusCode === 400);
  let path = '';
  for (let i = 0; i < 8; ++i) {
    path += `${path && '/'}${'d'.repeat(250)}`;
    await share.getDirectoryClient(path).create();
  }
  await assert.rejects(share.getDirectoryClient(`${path}/${'d'.repeat(250)}`).create(), refused(400, 'InvalidFileOrDirectoryPathName'));
});

test('trailing dots are dropped unless the client keeps them', async () => {
  const share = await freshShare();
  await fileWith(rootOf(share), 'dotted...', 'x');
  assert.deepEqual(await entriesOf(rootOf(share)), ['dotted']);
  assert.equal(await textOf(rootOf(share).getFileClient('dotted.')), 'x');
  const keeping = new ShareServiceClient(server.url('File'), credential, { ...once, allowTrailingDot: true, allowSourceTrailingDot: true });
  const root = keeping.getShareClient(share.name).rootDirectoryClient;
  await fileWith(root, 'kept.', 'kept');
  assert.deepEqual(await entriesOf(root), ['dotted', 'kept.']);
  assert.equal(await textOf(root.getFileClient('kept.')), 'kept');
  await assert.rejects(rootOf(share).getFileClient('kept.').getProperties(), refused(404, 'ResourceNotFound'));
});
