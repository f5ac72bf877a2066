// Batches of deletions and tier changes through the SDK.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AnonymousCredential, BlobServiceClient, ContainerSASPermissions, generateBlobSASQueryParameters,
} from '@azure/storage-blob';
import { blobServer, credential, namesOf, once, request } from './blob_fixtures.mjs';
import { ACCOUNT } from './server.mjs';

const { server, service, freshContainer } = await blobServer();

async function filled(count) {
  const container = await freshContainer();
  const blobs = Array.from({ length: count }, (_, i) => container.getBlockBlobClient(`b${String(i).padStart(3, '0')}`));
  await Promise.all(blobs.map((blob) => blob.upload('x', 1)));
  return { container, blobs };
}
const urls = (blobs) => blobs.map((blob) => blob.url);

test('deleting many', async () => {
  const { container, blobs } = await filled(100);
  const reply = await service.getBlobBatchClient().deleteBlobs(urls(blobs), credential);
  assert.equal(reply.subResponsesSucceededCount, 100);
  assert.ok(reply.subResponses.every((part) => part.status === 202));
  assert.deepEqual(await namesOf(container.listBlobsFlat()), []);
});

test('each part has its own outcome', async () => {
  const { container, blobs } = await filled(3);
  await blobs[1].getBlobLeaseClient().acquireLease(-1);
  const missing = container.getBlockBlobClient('missing');
  const reply = await service.getBlobBatchClient().deleteBlobs(urls([blobs[0], blobs[1], missing, blobs[2]]), credential);
  assert.deepEqual(reply.subResponses.map((part) => [part.status, part.errorCode]),
    [[202, undefined], [412, 'LeaseIdMissing'], [404, 'BlobNotFound'], [202, undefined]]);
  assert.deepEqual(await namesOf(container.listBlobsFlat()), ['b001']);
});

test('setting tiers', async () => {
  const { container, blobs } = await filled(5);
  const reply = await service.getBlobBatchClient().setBlobsAccessTier(urls(blobs), credential, 'Cool');
  assert.equal(reply.subResponsesSucceededCount, 5);
  for await (const item of container.listBlobsFlat()) assert.equal(item.properties.accessTier, 'Cool');
});

test('of one container, and names that need encoding', async () => {
  const container = await freshContainer();
  const blobs = ['with space', 'grüße', 'a/b', '100%', 'a+b'].map((name) => container.getBlockBlobClient(name));
  for (const blob of blobs) await blob.upload('x', 1);
  const reply = await container.getBlobBatchClient().deleteBlobs(urls(blobs), credential);
  assert.equal(reply.subResponsesSucceededCount, 5);
  assert.deepEqual(await namesOf(container.listBlobsFlat()), []);
});

test('of a container whose name is written encoded', async () => {
  const website = service.getContainerClient('$web');
  await website.create();
  const blob = website.getBlockBlobClient('page');
  await blob.upload('x', 1);
  assert.match(blob.url, /%24web/);
  const reply = await website.getBlobBatchClient().deleteBlobs([blob.url], credential);
  assert.equal(reply.subResponsesSucceededCount, 1);
  assert.deepEqual(await namesOf(website.listBlobsFlat()), []);
});

test('parts are authorized one by one', async () => {
  const { container, blobs } = await filled(2);
  const token = (permissions) => generateBlobSASQueryParameters({ containerName: container.containerName,
    expiresOn: new Date(Date.now() + 600_000), permissions: ContainerSASPermissions.parse(permissions) }, credential);
  const visitor = new BlobServiceClient(`${server.blobUrl}?${token('rw')}`, new AnonymousCredential(), once);
  const client = visitor.getContainerClient(container.containerName).getBlobBatchClient();
  const reply = await client.deleteBlobs(
    [`${blobs[0].url}?${token('d')}`, `${blobs[1].url}?${token('r')}`], new AnonymousCredential());
  assert.deepEqual(reply.subResponses.map((part) => part.status), [202, 403]);
  assert.deepEqual(await namesOf(container.listBlobsFlat()), ['b001']);
});

const bare = (method, path, id = 0) => ['--edge', 'Content-Type: application/http', 'Content-Transfer-Encoding: binary',
  `Content-ID: ${id}`, '', `${method} ${path} HTTP/1.1`, 'Content-Length: 0', '', ''].join('\r\n');
const submit = (path, ...parts) => request(server, 'POST', `/${ACCOUNT}${path}`,
  { headers: { 'content-type': 'multipart/mixed; boundary=edge' }, body: `${parts.join('')}--edge--\r\n` });

test('malformed batches are refused and do nothing', async () => {
  const { container } = await filled(1);
  for (const body of ['', 'nothing', '--edge--\r\n']) {
    const got = await request(server, 'POST', `/${ACCOUNT}/?comp=batch`,
      { headers: { 'content-type': 'multipart/mixed; boundary=edge' }, body });
    assert.equal(got.status, 202, JSON.stringify(body));
    assert.match(got.text, /HTTP\/1.1 400 [^]*<Code>InvalidInput</);
  }
  const got = await request(server, 'POST', `/${ACCOUNT}/?comp=batch`, { headers: { 'content-type': 'text/plain' }, body: 'x' });
  assert.equal(got.status, 400);
  assert.deepEqual(await namesOf(container.listBlobsFlat()), ['b000']);
});

test('what is wrong with the parts as a whole is told in one part', async () => {
  const { container, blobs } = await filled(1);
  const path = new URL(blobs[0].url).pathname;
  const other = (await freshContainer()).containerName;
  const cases = [
    ['InvalidInput', '/?comp=batch', bare('GET', path)],
    ['AllBatchSubRequestsShouldBeSameApi', '/?comp=batch', bare('DELETE', path), bare('PUT', `${path}?comp=tier`, 1)],
    ['ExceedsMaxBatchRequestCount', '/?comp=batch', ...Array.from({ length: 257 }, (_, i) => bare('DELETE', `${path}-${i}`, i))],
    ['InvalidInput', `/${other}?restype=container&comp=batch`, bare('DELETE', path)],
  ];
  for (const [code, target, ...parts] of cases) {
    const got = await submit(target, ...parts);
    assert.equal(got.status, 202, code);
    assert.equal(got.text.match(/^HTTP\/1\.1 /gm).length, 1, code);
    assert.match(got.text, new RegExp(`^HTTP/1\\.1 400 [^]*x-ms-error-code: ${code}\r\n`, 'm'));
  }
  assert.deepEqual(await namesOf(container.listBlobsFlat()), ['b000']);
});

test('replies carry the ids of their parts', async () => {
  const { blobs } = await filled(1);
  const path = new URL(blobs[0].url).pathname;
  const got = await submit('/?comp=batch', bare('DELETE', path, 'seven'), bare('DELETE', path).replace('Content-ID: 0\r\n', ''));
  assert.equal(got.status, 202);
  assert.deepEqual([...got.text.matchAll(/^Content-ID: (.*)\r$/gm)].map(([, id]) => id), ['seven', '1']);
});
