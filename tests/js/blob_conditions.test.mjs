// Conditional headers on every operation that takes them: a condition that holds lets it through, one that does not refuses
// it and changes nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blobServer, picture, refused, refusedUnchanged, request, textOf } from './blob_fixtures.mjs';
import { makers, operations } from './blob_operations.mjs';

const { server, freshContainer } = await blobServer();
const container = await freshContainer();
let counter = 0;
const freshBlob = (type) => makers[type](container, `${type}-${counter++}`);

const OTHER_ETAG = '"0x8D00000000000FF"';
const HOUR_MS = 3_600_000;

// For each condition: a value that holds for the blob as shown, one that does not, and the status of its failure.
const cases = {
  ifMatch: { holds: (shown) => shown.etag, fails: () => OTHER_ETAG, read: 412 },
  ifNoneMatch: { holds: () => OTHER_ETAG, fails: (shown) => shown.etag, read: 304 },
  ifModifiedSince: {
    holds: (shown) => new Date(shown.lastModified.getTime() - HOUR_MS), fails: (shown) => shown.lastModified, read: 304,
  },
  ifUnmodifiedSince: {
    holds: (shown) => shown.lastModified, fails: (shown) => new Date(shown.lastModified.getTime() - HOUR_MS), read: 412,
  },
  tagConditions: { holds: () => `"colour" = 'blue'`, fails: () => `"colour" = 'red'`, read: 412 },
};

for (const { name, type, kind, takes, run, prepare, touches } of operations) {
  for (const condition of takes) {
    test(`${name}: ${condition}`, async () => {
      const { holds, fails, read } = cases[condition];
      const blob = await freshBlob(type);
      await prepare?.(blob);
      const before = await picture(blob);
      await refusedUnchanged(blob, kind === 'read' ? read : 412, 'ConditionNotMet',
        () => run(blob, { [condition]: fails(before) }));
      await run(blob, { [condition]: holds(before) });
      const after = await picture(blob);
      if (touches) assert.notEqual(after.etag, before.etag);
      else assert.equal(after.etag, before.etag);
    });
  }
}

test('reads: the mix of all four headers follows RFC 7232', async () => {
  const blob = await freshBlob('block');
  const { etag, lastModified } = await blob.getProperties();
  const earlier = new Date(lastModified.getTime() - HOUR_MS);
  const rows = [
    [{ ifMatch: etag, ifUnmodifiedSince: lastModified, ifNoneMatch: OTHER_ETAG, ifModifiedSince: earlier }, 200],
    [{ ifMatch: OTHER_ETAG, ifUnmodifiedSince: lastModified }, 412],
    [{ ifMatch: etag, ifUnmodifiedSince: earlier }, 412],
    [{ ifNoneMatch: etag, ifModifiedSince: earlier }, 200],
    [{ ifNoneMatch: OTHER_ETAG, ifModifiedSince: lastModified }, 200],
    [{ ifNoneMatch: etag, ifModifiedSince: lastModified }, 304],
    [{ ifMatch: OTHER_ETAG, ifNoneMatch: etag }, 412],
    [{ ifMatch: etag, ifNoneMatch: etag }, 304],
  ];
  for (const [conditions, status] of rows) {
    const got = await blob.getProperties({ conditions }).then(() => 200, (error) => error.statusCode);
    assert.equal(got, status, JSON.stringify(conditions));
  }
});

test('writes: pairs are reduced to their entity tag, other mixes are refused', async () => {
  const blob = await freshBlob('block');
  const { etag, lastModified } = await blob.getProperties();
  const earlier = new Date(lastModified.getTime() - HOUR_MS);
  for (const conditions of [
    { ifMatch: etag, ifNoneMatch: OTHER_ETAG },
    { ifMatch: etag, ifModifiedSince: earlier },
    { ifNoneMatch: OTHER_ETAG, ifUnmodifiedSince: lastModified },
    { ifModifiedSince: earlier, ifUnmodifiedSince: lastModified },
    { ifMatch: `${etag}, ${OTHER_ETAG}` },
  ]) {
    await refusedUnchanged(blob, 400, 'MultipleConditionHeadersNotSupported',
      () => blob.setMetadata({ changed: 'yes' }, { conditions }));
  }
  await blob.setMetadata({ changed: '1' }, { conditions: { ifMatch: etag, ifUnmodifiedSince: earlier } });
  const now = await blob.getProperties();
  await blob.setMetadata({ changed: '2' }, { conditions: { ifNoneMatch: OTHER_ETAG, ifModifiedSince: now.lastModified } });
});

test('If-None-Match: * creates and never overwrites', async () => {
  const blob = container.getBlockBlobClient('created-once');
  await blob.upload('first', 5, { conditions: { ifNoneMatch: '*' } });
  await refusedUnchanged(blob, 409, 'BlobAlreadyExists',
    () => blob.upload('second', 6, { conditions: { ifNoneMatch: '*' } }));
  await refusedUnchanged(blob, 409, 'BlobAlreadyExists',
    () => blob.commitBlockList([], { conditions: { ifNoneMatch: '*' } }));
  const staged = container.getBlockBlobClient('staged-only');
  await staged.stageBlock('AAAA', 'x', 1);
  await staged.commitBlockList(['AAAA'], { conditions: { ifNoneMatch: '*' } });
  assert.equal(await textOf(staged), 'x');
});

test('If-Match never creates; * matches whatever is there', async () => {
  const missing = container.getBlockBlobClient('never-there');
  for (const ifMatch of ['*', OTHER_ETAG]) {
    await assert.rejects(missing.upload('x', 1, { conditions: { ifMatch } }), refused(412, 'ConditionNotMet'));
    await assert.rejects(missing.commitBlockList([], { conditions: { ifMatch } }), refused(412, 'ConditionNotMet'));
  }
  assert.equal(await missing.exists(), false);
  const blob = await freshBlob('block');
  await blob.upload('new', 3, { conditions: { ifMatch: '*' } });
  await blob.getProperties({ conditions: { ifMatch: '*' } });
  assert.equal(await textOf(blob), 'new');
});

test('conditions that cannot fail on a missing blob let it be created', async () => {
  const rows = { ifNoneMatch: OTHER_ETAG, ifModifiedSince: new Date(), ifUnmodifiedSince: new Date(0) };
  for (const [condition, value] of Object.entries(rows)) {
    const blob = container.getBlockBlobClient(`created-with-${condition}`);
    await blob.upload('x', 1, { conditions: { [condition]: value } });
  }
});

test('an ETag counts with and without quotes', async () => {
  const blob = await freshBlob('block');
  const { etag } = await blob.getProperties();
  assert.match(etag, /^"0x[0-9A-F]+"$/);
  await blob.getProperties({ conditions: { ifMatch: etag.replaceAll('"', '') } });
});

test('reads take a list of entity tags', async () => {
  const blob = await freshBlob('block');
  const { etag } = await blob.getProperties();
  await blob.getProperties({ conditions: { ifMatch: `${OTHER_ETAG}, ${etag}` } });
  await assert.rejects(blob.getProperties({ conditions: { ifNoneMatch: `${OTHER_ETAG},${etag}` } }),
    refused(304, 'ConditionNotMet'));
});

test('every successful write has an ETag of its own', async () => {
  const blob = container.getBlockBlobClient('many-etags');
  const seen = new Set();
  for (let i = 0; i < 50; ++i) seen.add((await blob.upload('same', 4)).etag);
  assert.equal(seen.size, 50);
});

test('a 304 has neither body nor content headers', async () => {
  const blob = await freshBlob('block');
  const { etag } = await blob.getProperties();
  const path = new URL(blob.url).pathname;
  const got = await request(server, 'GET', path, { headers: { 'if-none-match': etag } });
  assert.equal(got.status, 304);
  assert.equal(got.code, 'ConditionNotMet');
  assert.equal(got.bytes.length, 0);
});

test('malformed conditions are refused', async () => {
  const blob = await freshBlob('block');
  const path = new URL(blob.url).pathname;
  const rows = [
    ['if-modified-since', 'yesterday', 'InvalidHeaderValue'],
    ['x-ms-if-tags', 'colour blue', 'InvalidHeaderValue'],
  ];
  for (const [header, value, code] of rows) {
    const got = await request(server, 'GET', path, { headers: { [header]: value } });
    assert.equal(got.status, 400, header);
    assert.equal(got.code, code, header);
  }
});

test('tag conditions: the whole grammar', async () => {
  const blob = container.getBlockBlobClient('tagged');
  await blob.upload('x', 1, { tags: { colour: 'blue', size: '10', 'with space': 'a b' } });
  const rows = [
    [`"colour" = 'blue'`, true], [`colour='blue'`, true], [`"colour" <> 'blue'`, false], [`"size" > '1'`, true],
    [`"size" >= '10' AND "size" < '2'`, true], [`"colour" = 'red' OR "size" = '10'`, true],
    [`"missing" = ''`, false], [`"with space" = 'a b'`, true], [`"colour" = 'Blue'`, false],
  ];
  for (const [tagConditions, holds] of rows) {
    const got = await blob.getProperties({ conditions: { tagConditions } }).then(() => true, (error) => {
      assert.equal(error.statusCode, 412, `${tagConditions}: ${error.message}`);
      return false;
    });
    assert.equal(got, holds, tagConditions);
  }
});
