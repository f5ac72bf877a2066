// Many clients at one blob: the three strategies of managing concurrency (optimistic, pessimistic, last writer wins), and
// that a read sees one committed state whatever is written meanwhile.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobServiceClient } from '@azure/storage-blob';
import { blobServer, bytesOf, credential, once, refused, refusedUnchanged, textOf } from './blob_fixtures.mjs';

const { server, freshContainer } = await blobServer();
const container = await freshContainer();
const MIB = 1024 * 1024;
const times = (count, make) => Array.from({ length: count }, (_, i) => make(i));
const write = (blob, text, options) => blob.upload(text, Buffer.byteLength(text), options);
// Each client is one of its own, with its own connections.
const clientOf = (box, name) =>
  new BlobServiceClient(server.blobUrl, credential, once).getContainerClient(box.containerName).getBlockBlobClient(name);

test('optimistic: an update against an old ETag fails with 412, reading again and retrying succeeds', async () => {
  const mine = clientOf(container, 'optimistic');
  const other = clientOf(container, 'optimistic');
  const original = await write(mine, 'Hello World!');
  const update = await write(other, 'Blob updated by another client.');
  assert.notEqual(update.etag, original.etag);
  await refusedUnchanged(mine, 412, 'ConditionNotMet',
    () => write(mine, 'My update', { conditions: { ifMatch: original.etag } }));
  assert.equal(await textOf(mine), 'Blob updated by another client.');
  const { etag } = await mine.getProperties();
  assert.equal(etag, update.etag);
  const retried = await write(mine, 'My update', { conditions: { ifMatch: etag } });
  assert.notEqual(retried.etag, etag);
  assert.equal(await textOf(other), 'My update');
});

test('pessimistic: while the lease is held only its holder writes, everybody reads', async () => {
  const holder = clientOf(container, 'pessimistic');
  const other = clientOf(container, 'pessimistic');
  await write(holder, 'Hello World!');
  const lease = holder.getBlobLeaseClient();
  const { leaseId } = await lease.acquireLease(15);
  await write(holder, 'Blob updated', { conditions: { leaseId } });
  await refusedUnchanged(other, 412, 'LeaseIdMissing', () => write(other, 'Update without lease'));
  await refusedUnchanged(other, 412, 'LeaseIdMissing', () => other.delete());
  await assert.rejects(other.getBlobLeaseClient().acquireLease(15), refused(409, 'LeaseAlreadyPresent'));
  assert.equal(await textOf(other), 'Blob updated');
  await lease.releaseLease();
  await write(other, 'Update after release');
  assert.equal(await textOf(holder), 'Update after release');
});

test('pessimistic for containers: only deletion is locked', async () => {
  const box = await freshContainer();
  const lease = box.getBlobLeaseClient();
  const { leaseId } = await lease.acquireLease(60);
  await write(box.getBlockBlobClient('b'), 'x');
  await box.setMetadata({ still: 'writable' });
  await assert.rejects(box.delete(), refused(412, 'LeaseIdMissing'));
  assert.equal(await textOf(box.getBlobClient('b')), 'x');
  await box.delete({ conditions: { leaseId } });
});

test('last writer wins when nobody sends a condition', async () => {
  const writers = times(8, () => clientOf(container, 'last'));
  const replies = await Promise.all(
    writers.map((writer, i) => write(writer, `writer ${i}`, { metadata: { writer: String(i) } })));
  assert.equal(new Set(replies.map((reply) => reply.etag)).size, 8);
  const final = await writers[0].getProperties();
  const winner = replies.findIndex((reply) => reply.etag === final.etag);
  assert.ok(winner >= 0, 'the final state is that of one of the writers');
  assert.equal(await textOf(writers[0]), `writer ${winner}`);
  assert.deepEqual(final.metadata, { writer: String(winner) });
  await write(writers[3], 'one more');
  assert.equal(await textOf(writers[5]), 'one more');
});

test('64 clients that read, modify and write with If-Match lose no update', async () => {
  await write(clientOf(container, 'counter'), '0');
  let acknowledged = 0;
  let refusals = 0;
  await Promise.all(times(64, async () => {
    const blob = clientOf(container, 'counter');
    for (;;) {
      const got = await blob.download();
      const value = Number((await bytesOf(got.readableStreamBody)).toString());
      try {
        await write(blob, String(value + 1), { conditions: { ifMatch: got.etag } });
        ++acknowledged;
        return;
      } catch (error) {
        refused(412, 'ConditionNotMet')(error);
        ++refusals;
      }
    }
  }));
  assert.equal(acknowledged, 64);
  assert.equal(Number(await textOf(container.getBlobClient('counter'))), acknowledged);
  assert.ok(refusals > 0, 'the clients did meet');
});

test('of many that create with If-None-Match: * one succeeds', async () => {
  const outcomes = await Promise.allSettled(times(32, (i) =>
    write(clientOf(container, 'created'), `creator ${i}`, { conditions: { ifNoneMatch: '*' } })));
  const winners = outcomes.flatMap((outcome, i) => (outcome.status === 'fulfilled' ? [i] : []));
  assert.equal(winners.length, 1);
  for (const { reason } of outcomes.filter((outcome) => outcome.reason)) refused(409, 'BlobAlreadyExists')(reason);
  assert.equal(await textOf(container.getBlobClient('created')), `creator ${winners[0]}`);
});

test('of many that ask for a lease one gets it, of many that delete one does', async () => {
  await write(clientOf(container, 'wanted'), 'x');
  const leases = await Promise.allSettled(times(32, () => clientOf(container, 'wanted').getBlobLeaseClient().acquireLease(60)));
  const [given, ...more] = leases.filter((outcome) => outcome.status === 'fulfilled');
  assert.equal(more.length, 0);
  for (const { reason } of leases.filter((outcome) => outcome.reason)) refused(409, 'LeaseAlreadyPresent')(reason);
  const conditions = { leaseId: given.value.leaseId };
  const deletions = await Promise.allSettled(times(16, () => clientOf(container, 'wanted').delete({ conditions })));
  assert.equal(deletions.filter((outcome) => outcome.status === 'fulfilled').length, 1);
});

test('content, metadata and ETag that are read together were written together', async () => {
  const written = new Map();
  let stop = false;
  const record = async (writer, i) => {
    const text = `${writer}-${i}`.repeat(1 + (i % 50));
    const { etag } = await write(clientOf(container, 'together'), text, { metadata: { length: String(text.length) } });
    written.set(etag, text);
  };
  await record(0, 0);
  const writers = times(6, async (writer) => {
    for (let i = 1; !stop; ++i) await record(writer, i);
  });
  const seen = [];
  await Promise.all(times(6, async () => {
    const blob = clientOf(container, 'together');
    for (let i = 0; i < 40; ++i) {
      const got = await blob.download();
      seen.push({ etag: got.etag, length: got.metadata.length, text: (await bytesOf(got.readableStreamBody)).toString() });
    }
  }));
  stop = true;
  await Promise.all(writers);
  for (const { etag, length, text } of seen) {
    assert.equal(text, written.get(etag));
    assert.equal(text.length, Number(length));
  }
  assert.ok(new Set(seen.map((one) => one.etag)).size > 1, 'the readers met several versions');
});

test('snapshot isolation: readers in the midst of a blob that is overwritten get one whole version', async () => {
  const size = 24 * MIB;
  const blob = clientOf(container, 'versions');
  const overwrite = (version) => blob.upload(Buffer.alloc(size, version), size);
  await overwrite(0);
  let version = 0;
  const inTheMidst = [];
  for (let round = 1; round <= 6; ++round) {
    // Begin to read, overwrite the blob while most of it is still to be sent, then read on.
    const readers = await Promise.all(times(3, async () => {
      const stream = (await clientOf(container, 'versions').download()).readableStreamBody;
      const iterator = stream[Symbol.asyncIterator]();
      return { expected: version, first: (await iterator.next()).value, iterator };
    }));
    inTheMidst.push(...readers);
    await overwrite(++version);
    // Some of them read on only when their version is several overwrites old.
    for (const reader of inTheMidst.splice(0, round < 6 ? 2 : inTheMidst.length)) {
      let length = 0;
      for (let part = reader.first; part; part = (await reader.iterator.next()).value) {
        assert.ok(part.equals(Buffer.alloc(part.length, reader.expected)), `version ${reader.expected} holds bytes of another`);
        length += part.length;
      }
      assert.equal(length, size);
    }
  }
  const last = await bytesOf((await blob.download()).readableStreamBody);
  assert.ok(last.equals(Buffer.alloc(size, version)));
});

test('a read goes on after its blob was deleted', async () => {
  const size = 24 * MIB;
  const blob = clientOf(container, 'vanishing');
  await blob.upload(Buffer.alloc(size, 7), size);
  const { readableStreamBody } = await blob.download();
  await clientOf(container, 'vanishing').delete();
  assert.equal(await blob.exists(), false);
  assert.ok((await bytesOf(readableStreamBody)).equals(Buffer.alloc(size, 7)));
});

test('blocks staged by many clients are committed by one', async () => {
  const ids = times(40, (i) => Buffer.from(String(i).padStart(4, '0')).toString('base64'));
  await Promise.all(ids.map((id, i) => clientOf(container, 'assembled').stageBlock(id, `${i};`, `${i};`.length)));
  await clientOf(container, 'assembled').commitBlockList(ids);
  assert.equal(await textOf(clientOf(container, 'assembled')), ids.map((_, i) => `${i};`).join(''));
});

test('of two commits that both hold the ETag they read one wins', async () => {
  const blob = clientOf(container, 'two-commits');
  const { etag } = await write(blob, 'start');
  await Promise.all(times(8, (i) => clientOf(container, 'two-commits').stageBlock(`AAA${i}`, String(i), 1)));
  const commits = await Promise.allSettled(times(8, (i) =>
    clientOf(container, 'two-commits').commitBlockList([`AAA${i}`], { conditions: { ifMatch: etag } })));
  const winners = commits.flatMap((outcome, i) => (outcome.status === 'fulfilled' ? [i] : []));
  assert.equal(winners.length, 1);
  assert.equal(await textOf(blob), String(winners[0]));
});
