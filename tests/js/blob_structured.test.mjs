// Structured messages: bodies in segments with checksums, both ways.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { test } from 'node:test';
import { StorageCRC64Calculator } from '@azure/storage-common';
import { blobServer, bytesOf, contentOf, picture, request } from './blob_fixtures.mjs';

const { server, freshContainer } = await blobServer();
const container = await freshContainer();
const FORM = 'XSM/1.0; properties=crc64';
const MIB = 1024 * 1024;
const checked = { contentChecksumAlgorithm: 'StorageCrc64' };

test('the SDK uploads and downloads with checksums', async () => {
  for (const length of [1, 1000, 4 * MIB, 9 * MIB + 1]) {
    const content = crypto.randomBytes(length);
    const blob = container.getBlockBlobClient(`sdk-${length}`);
    await blob.upload(content, content.length, checked);
    assert.deepEqual(await contentOf(blob), content);
    const download = await blob.download(0, undefined, checked);
    assert.deepEqual(await bytesOf(download.readableStreamBody), content);
    if (length < 100) continue;
    const part = await blob.download(10, 50, checked);
    assert.deepEqual(await bytesOf(part.readableStreamBody), content.subarray(10, 60));
  }
});

test('blocks, pages and appended blocks', async () => {
  const content = crypto.randomBytes(5 * MIB);
  const blocks = container.getBlockBlobClient('blocks');
  await blocks.stageBlock('AAAA', content, content.length, checked);
  await blocks.commitBlockList(['AAAA']);
  assert.deepEqual(await contentOf(blocks), content);

  const pages = container.getPageBlobClient('pages');
  await pages.create(MIB);
  await pages.uploadPages(content.subarray(0, MIB), 0, MIB, checked);
  assert.deepEqual(await contentOf(pages), content.subarray(0, MIB));

  const appended = container.getAppendBlobClient('appended');
  await appended.create();
  await appended.appendBlock(content.subarray(0, 1000), 1000, checked);
  await appended.appendBlock(content.subarray(1000, 3000), 2000, checked);
  assert.deepEqual(await contentOf(appended), content.subarray(0, 3000));
});

await StorageCRC64Calculator.init?.();
function crc64(bytes) {
  const calculator = new StorageCRC64Calculator();
  return Buffer.from(calculator.final(bytes, bytes.length));
}

const number = (value, bytes) => {
  const out = Buffer.alloc(8);
  out.writeBigUInt64LE(BigInt(value));
  return out.subarray(0, bytes);
};

function message(parts) {
  const segments = parts.map((part, index) =>
    Buffer.concat([number(index + 1, 2), number(part.length, 8), part, crc64(part)]));
  const body = Buffer.concat([...segments, crc64(Buffer.concat(parts))]);
  return Buffer.concat([number(1, 1), number(13 + body.length, 8), number(1, 2), number(parts.length, 2), body]);
}

const put = (name, body, headers) =>
  request(server, 'PUT', new URL(container.getBlobClient(name).url).pathname, {
    headers: { 'x-ms-blob-type': 'BlockBlob', 'x-ms-version': '2026-04-06', 'x-ms-structured-body': FORM, ...headers }, body });

test('segments of any size, and a reply that confirms the form', async () => {
  const parts = ['one', 'two', '', 'the fourth'].map((text) => Buffer.from(text));
  const got = await put('raw', message(parts), { 'x-ms-structured-content-length': '16' });
  assert.equal(got.status, 201, got.text);
  assert.equal(got.headers['x-ms-structured-body'], FORM);
  assert.equal((await contentOf(container.getBlobClient('raw'))).toString(), 'onetwothe fourth');
});

test('damage on the way is noticed and changes nothing', async () => {
  const blob = container.getBlockBlobClient('damaged');
  await blob.upload('as it was', 9);
  const before = await picture(blob);
  const good = message([Buffer.from('first'), Buffer.from('second')]);
  const length = { 'x-ms-structured-content-length': '11' };
  const flipped = (at) => {
    const bad = Buffer.from(good);
    bad[at] ^= 1;
    return bad;
  };
  const rows = [
    [flipped(23), length, 'Crc64Mismatch'],
    [flipped(good.length - 1), length, 'Crc64Mismatch'],
    [flipped(0), length, 'InvalidInput'],
    [good.subarray(0, good.length - 1), length, 'InvalidInput'],
    [Buffer.concat([good, Buffer.alloc(1)]), length, 'InvalidInput'],
    [good, { 'x-ms-structured-content-length': '12' }, 'InvalidHeaderValue'],
    [good, { 'x-ms-structured-content-length': 'many' }, 'InvalidHeaderValue'],
    [good, {}, 'MissingRequiredHeader'],
    [good, { ...length, 'x-ms-structured-body': 'XSM/9.0; properties=sha1' }, 'InvalidHeaderValue'],
  ];
  for (const [body, headers, code] of rows) {
    const got = await put('damaged', body, headers);
    assert.equal(got.status, 400, code);
    assert.equal(got.code, code);
    assert.deepEqual(await picture(blob), before);
  }
});

test('a download names both lengths', async () => {
  const blob = container.getBlockBlobClient('lengths');
  await blob.upload('0123456789', 10);
  const get = (headers) => request(server, 'GET', new URL(blob.url).pathname,
    { headers: { 'x-ms-version': '2026-04-06', 'x-ms-structured-body': FORM, ...headers } });
  const whole = await get({});
  assert.equal(whole.status, 200);
  assert.equal(whole.headers['x-ms-structured-content-length'], '10');
  assert.equal(whole.headers['x-ms-structured-body'], FORM);
  assert.deepEqual(whole.bytes, message([Buffer.from('0123456789')]));
  assert.equal(Number(whole.headers['content-length']), whole.bytes.length);
  const part = await get({ 'x-ms-range': 'bytes=2-4' });
  assert.equal(part.status, 206);
  assert.deepEqual(part.bytes, message([Buffer.from('234')]));
  const empty = container.getBlockBlobClient('empty');
  await empty.upload('', 0);
  const nothing = await request(server, 'GET', new URL(empty.url).pathname,
    { headers: { 'x-ms-structured-body': FORM } });
  assert.deepEqual(nothing.bytes, message([Buffer.alloc(0)]));
  assert.equal((await get({ 'x-ms-structured-body': 'other' })).code, 'InvalidHeaderValue');
});
