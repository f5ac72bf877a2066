// What sharing and immutable runs give: a read is one version however often the blob is replaced meanwhile, and copies and
// snapshots cost no bytes however large the blob.
import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { blobServer, contentOf, signedHeaders } from './blob_fixtures.mjs';
import { sanitized } from './server.mjs';

const { server, freshContainer } = await blobServer();
const container = await freshContainer();
const MIB = 1024 * 1024;
const BLOCK = 4 * MIB;

const idOf = (number) => Buffer.from(String(number).padStart(6, '0')).toString('base64');

// A block that carries its version in every word of four bytes.
function blockOf(version) {
  const word = Buffer.alloc(4);
  word.writeUInt32BE(version + 1);
  return Buffer.alloc(BLOCK, word);
}

// Replaces the blob by one of `blocks` equal blocks of that version.
async function replace(blob, version, blocks) {
  const id = idOf(version);
  await blob.stageBlock(id, blockOf(version), BLOCK);
  await blob.commitBlockList(Array(blocks).fill(id));
}

// Reads the blob in one request and says of which versions it is, and how long.
async function readVersions(blob) {
  const { hostname, port, pathname } = new URL(blob.url);
  const response = await new Promise((resolve, reject) => {
    http.get({ hostname, port, path: pathname, agent: false, headers: signedHeaders('GET', pathname) }, resolve)
      .on('error', reject);
  });
  assert.equal(response.statusCode, 200);
  const versions = new Set();
  let length = 0;
  let expected = Buffer.alloc(0);
  for await (const part of response) {
    // Words may be cut between two parts: compare with the pattern from this position on.
    const shift = length % 4;
    if (length === 0) {
      assert.ok(part.length >= 4);
      versions.add(part.readUInt32BE(0) - 1);
      expected = blockOf(part.readUInt32BE(0) - 1);
    }
    if (!part.equals(expected.subarray(shift, shift + part.length))) versions.add('another');
    length += part.length;
  }
  return { versions: [...versions], length };
}

test('readers of 256 MiB that is replaced 50 times each get one whole version', { timeout: 600_000 }, async () => {
  const blob = container.getBlockBlobClient('replaced');
  const blocks = 64;
  await replace(blob, 0, blocks);
  let done = false;
  let reads = 0;
  let readDone = () => {};
  const met = new Set();
  const readers = Array.from({ length: 3 }, async () => {
    do {
      const { versions, length } = await readVersions(blob);
      assert.equal(length, blocks * BLOCK);
      assert.equal(versions.length, 1, 'one version');
      met.add(versions[0]);
      ++reads;
      readDone();
    } while (!done);
  });
  for (let version = 1; version <= 50; ++version) {
    // However quick the writer is, readers begin anew among its versions.
    while (reads < Math.floor(version / 10)) await Promise.race([new Promise((resolve) => { readDone = resolve; }), ...readers]);
    await replace(blob, version, blocks);
  }
  done = true;
  await Promise.all(readers);
  assert.ok(met.size > 1, 'the readers met several versions');
  assert.deepEqual((await readVersions(blob)).versions, [50]);
});

async function extentBytes() {
  const folder = path.join(server.location, 'extents');
  const files = await readdir(folder);
  const sizes = await Promise.all(files.map(async (name) => (await stat(path.join(folder, name))).blocks * 512));
  return sizes.reduce((sum, size) => sum + size, 0);
}

test('1,000 snapshots and copies of 100 GiB cost no bytes', { timeout: 600_000 }, async () => {
  const small = container.getBlockBlobClient('snapped');
  await replace(small, 1, 8);
  const large = container.getBlockBlobClient('large');
  const blocks = 100 * 1024 * MIB / BLOCK;
  await replace(large, 2, blocks);
  const before = await extentBytes();

  let snapshot;
  for (let i = 0; i < 1000; ++i) ({ snapshot } = await small.createSnapshot());
  assert.deepEqual((await contentOf(small.withSnapshot(snapshot), BLOCK - 2, 4)), blockOf(1).subarray(2, 6));

  const copy = container.getBlockBlobClient('copied');
  let fastest = Infinity;
  for (let i = 0; i < 5; ++i) {
    const began = performance.now();
    const { copyStatus } = await (await copy.beginCopyFromURL(large.url)).pollUntilDone();
    fastest = Math.min(fastest, performance.now() - began);
    assert.equal(copyStatus, 'success');
  }
  assert.equal((await copy.getProperties()).contentLength, blocks * BLOCK);
  for (const offset of [0, 12_345 * MIB + 1, blocks * BLOCK - 4]) {
    assert.deepEqual(await contentOf(copy, offset, 4), await contentOf(large, offset, 4));
  }
  // At the speed of a disk it would take minutes. Several, as this machine may be busy with other tests.
  assert.ok(fastest < (sanitized ? 2000 : 500), `${fastest} ms`);
  assert.ok(await extentBytes() <= before);  // Less when the sweep came by.
});
