// Query Blob Contents through the SDK: what is selected, in which form, and what is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlobSASPermissions, BlockBlobClient } from '@azure/storage-blob';
import { blobServer, bytesOf, once, refused, request } from './blob_fixtures.mjs';

const { server, freshContainer } = await blobServer({ flags: ['--setting', 'blobVersioning=true'] });
const container = await freshContainer();
const PEOPLE = 'name,age,town\r\nAda,36,London\r\nGrace,85,"New York, NY"\r\nLinus,56\r\n';
const HEADERS = { kind: 'csv', hasHeaders: true, columnSeparator: ',', recordSeparator: '\n' };
const JSON_LINES = { kind: 'json', recordSeparator: '\n' };

let counter = 0;
async function uploaded(content, options) {
  const blob = container.getBlockBlobClient(`data-${counter++}`);
  await blob.upload(content, Buffer.byteLength(content), options);
  return blob;
}
const queried = async (blob, statement, options) =>
  (await bytesOf((await blob.query(statement, options)).readableStreamBody)).toString();
// As no SDK sends it.
const posted = (blob, body) => request(server, 'POST', `${new URL(blob.url).pathname}?comp=query`, { body });
const xml = (inner) => `<?xml version="1.0" encoding="utf-8"?><QueryRequest><QueryType>SQL</QueryType>${inner}</QueryRequest>`;

test('rows and columns of CSV are selected', async () => {
  const blob = await uploaded('100,200,300\n400,500,600\n');
  assert.equal(await queried(blob, 'select * from BlobStorage'), '100,200,300\n400,500,600\n');
  assert.equal(await queried(blob, 'SELECT _2 FROM BlobStorage WHERE _1 > 250;'), '500\n');
  assert.equal(await queried(blob, 'SELECT _2 FROM BlobStorage WHERE _1 > 1000'), '');
  assert.equal(await queried(blob, 'SELECT COUNT(*) FROM BlobStorage'), '2\n');
  const people = await uploaded(PEOPLE);
  assert.equal(await queried(people, "SELECT Name FROM BlobStorage WHERE age BETWEEN 50 AND 90",
    { inputTextConfiguration: HEADERS }), 'Grace\nLinus\n');
  assert.equal(await queried(people, 'SELECT name, age FROM BlobStorage LIMIT 1',
    { inputTextConfiguration: HEADERS, outputTextConfiguration: JSON_LINES }), '{"name":"Ada","age":"36"}\n');
});

test('paths lead into JSON', async () => {
  const blob = await uploaded('{"id":1,"warehouses":[{"latitude":41.8},{"latitude":10}]}\n{"id":2}\n');
  const forms = { inputTextConfiguration: JSON_LINES, outputTextConfiguration: JSON_LINES };
  assert.equal(await queried(blob, 'SELECT latitude FROM BlobStorage[*].warehouses[*]', forms),
    '{"latitude":41.8}\n{"latitude":10}\n');
  assert.equal(await queried(blob, 'SELECT id FROM BlobStorage WHERE warehouses IS MISSING', forms), '{"id":2}\n');
  assert.equal(await queried(blob, 'SELECT warehouses[1].latitude, id FROM BlobStorage LIMIT 1', forms),
    '{"latitude":10,"id":1}\n');
});

test('Arrow has the schema that was asked for', async () => {
  const blob = await uploaded('1,a\n2,b\n');
  const result = await bytesOf((await blob.query('SELECT _1, _2 FROM BlobStorage', {
    outputTextConfiguration: { kind: 'arrow', schema: [{ type: 'int64', name: 'number' }, { type: 'string', name: 'letter' }] },
  })).readableStreamBody);
  assert.equal(result.readUInt32LE(0), 0xffffffff);
  assert.ok(result.includes('number') && result.includes('letter'));
  assert.ok(result.includes(Buffer.from([1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0])));
});

test('rows with errors are left out and told, and broken data end the query', async () => {
  const errors = [];
  const onError = (error) => errors.push([error.name, error.isFatal, error.position]);
  const blob = await uploaded('1,200\n2,hello\n3,300\n');
  assert.equal(await queried(blob, 'SELECT _1 FROM BlobStorage WHERE _2 > 100', { onError }), '1\n3\n');
  assert.deepEqual(errors.splice(0), [['InvalidTypeConversion', false, 6]]);
  const people = await uploaded(PEOPLE);
  await queried(people, 'SELECT town FROM BlobStorage', { onError, inputTextConfiguration: HEADERS });
  assert.deepEqual(errors.splice(0), [['InvalidColumnOrdinal', false, PEOPLE.indexOf('Linus')]]);
  await queried(blob, 'SELECT * FROM BlobStorage', { onError, inputTextConfiguration: JSON_LINES });
  assert.deepEqual(errors.splice(0), [['ParseError', true, 0]]);
});

test('a large blob is queried as it is sent, with progress', async () => {
  const line = `${'x'.repeat(90)},1234567\n`;
  const lines = 200_000;
  const blob = await uploaded(line.repeat(lines));
  const progress = [];
  const sum = await queried(blob, 'SELECT SUM(_2) FROM BlobStorage', { onProgress: ({ loadedBytes }) => progress.push(loadedBytes) });
  assert.equal(sum, `${1234567 * lines}\n`);
  assert.ok(progress.length >= 4, `${progress}`);
  assert.deepEqual(progress, [...progress].sort((a, b) => a - b));
  assert.equal(progress.at(-1), line.length * lines);
  const all = await queried(blob, 'SELECT _2,_1 FROM BlobStorage');
  assert.equal(all.length, line.length * lines);
  // Whoever turns away early does no harm.
  const { readableStreamBody } = await blob.query('SELECT * FROM BlobStorage');
  for await (const part of readableStreamBody) if (part.length > 0) break;
  assert.equal(await queried(blob, 'SELECT COUNT(*) FROM BlobStorage LIMIT 1'), `${lines}\n`);
});

test('properties are those of the blob, but for what the body is', async () => {
  const blob = await uploaded('1\n', { metadata: { a: 'b' }, blobHTTPHeaders: { blobContentType: 'text/csv', blobContentEncoding: 'x' } });
  const { etag, lastModified } = await blob.getProperties();
  const reply = await posted(blob, xml('<Expression>SELECT * FROM BlobStorage</Expression>'));
  assert.equal(reply.status, 200);
  assert.equal(reply.headers['content-type'], 'avro/binary');
  assert.equal(reply.headers['content-encoding'], undefined);
  assert.equal(reply.headers.etag, etag);
  assert.equal(reply.headers['last-modified'], lastModified.toUTCString());
  assert.equal(reply.headers['x-ms-meta-a'], 'b');
  assert.equal(reply.headers['x-ms-blob-type'], 'BlockBlob');
  assert.equal(reply.headers['accept-ranges'], 'bytes');
  assert.equal(reply.headers['transfer-encoding'], 'chunked');
});

test('snapshots, versions, conditions and leases', async () => {
  const blob = await uploaded('old\n');
  const { versionId } = await blob.getProperties();
  const { snapshot } = await blob.createSnapshot();
  const { etag } = await blob.upload('new\n', 4);
  const all = 'SELECT * FROM BlobStorage';
  assert.equal(await queried(blob, all), 'new\n');
  assert.equal(await queried(blob.withSnapshot(snapshot), all), 'old\n');
  assert.equal(await queried(blob.withVersion(versionId).getBlockBlobClient(), all), 'old\n');
  assert.equal(await queried(blob, all, { conditions: { ifMatch: etag } }), 'new\n');
  await assert.rejects(blob.query(all, { conditions: { ifMatch: '"0x1"' } }), refused(412, 'ConditionNotMet'));
  await assert.rejects(blob.query(all, { conditions: { ifNoneMatch: etag } }), refused(304, 'ConditionNotMet'));
  const lease = 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee';
  await assert.rejects(blob.query(all, { conditions: { leaseId: lease } }), refused(412, 'LeaseNotPresentWithBlobOperation'));
  await assert.rejects(blob.query(all, { conditions: { leaseId: 'invalid' } }), refused(400, 'InvalidHeaderValue'));
  await blob.getBlobLeaseClient(lease).acquireLease(-1);
  assert.equal(await queried(blob, all), 'new\n');
  assert.equal(await queried(blob, all, { conditions: { leaseId: lease } }), 'new\n');
});

test('what cannot be answered is refused before anything is sent', async () => {
  const blob = await uploaded(PEOPLE);
  const expression = (text) => assert.rejects(blob.query(text), refused(400, 'ErrorProcessingQueryExpression'));
  await expression('SELECT');
  await expression('SELECT name FROM BlobStorage');
  await expression('SELECT * FROM BlobStorage ORDER BY _1');
  await expression(`SELECT ${' '.repeat(256 * 1024)} * FROM BlobStorage`);
  await assert.rejects(blob.query('SELECT missing FROM BlobStorage', { inputTextConfiguration: HEADERS }),
    refused(400, 'ErrorProcessingQueryExpression'));
  await assert.rejects(blob.query('SELECT * FROM BlobStorage', { inputTextConfiguration: { kind: 'parquet' } }),
    refused(501, 'NotImplemented'));
  await assert.rejects(container.getBlockBlobClient('missing').query('SELECT * FROM BlobStorage'), refused(404, 'BlobNotFound'));
  const page = container.getPageBlobClient('page');
  await page.create(512);
  await assert.rejects(container.getBlockBlobClient('page').query('SELECT * FROM BlobStorage'), refused(409, 'InvalidBlobType'));
  const post = async (body) => {
    const { status, code } = await posted(blob, body);
    return `${status} ${code ?? ''}`;
  };
  const select = '<Expression>SELECT * FROM BlobStorage</Expression>';
  const input = (inner) => xml(`${select}<InputSerialization>${inner}</InputSerialization>`);
  assert.equal(await post(''), '400 InvalidXmlDocument');
  assert.equal(await post('<QueryRequest>'), '400 InvalidXmlDocument');
  assert.equal(await post('<Other/>'), '400 InvalidXmlDocument');
  assert.equal(await post(xml('')), '400 MissingRequiredXmlNode');
  assert.equal(await post(xml(select).replace('SQL', 'KQL')), '400 InvalidXmlNodeValue');
  assert.equal(await post(input('')), '400 MissingRequiredXmlNode');
  assert.equal(await post(input('<Format><Type>avro</Type></Format>')), '400 InvalidXmlNodeValue');
  assert.equal(await post(input('<Format><Type>delimited</Type><DelimitedTextConfiguration>' +
    '<FieldQuote>ab</FieldQuote></DelimitedTextConfiguration></Format>')), '400 InvalidXmlNodeValue');
  assert.equal(await post(input('<Format><Type>json</Type></Format>').replaceAll('Input', 'Output')), '200 ');
  assert.equal(await post('x'.repeat(3 * 1024 * 1024)), '413 RequestBodyTooLarge');
});

test('a signature must grant reading', async () => {
  const blob = await uploaded('1\n');
  const signed = async (permissions) => new BlockBlobClient(await blob.generateSasUrl({
    permissions: BlobSASPermissions.parse(permissions), expiresOn: new Date(Date.now() + 3600e3) }), undefined, once);
  assert.equal(await queried(await signed('r'), 'SELECT * FROM BlobStorage'), '1\n');
  await assert.rejects((await signed('w')).query('SELECT * FROM BlobStorage'), refused(403, 'AuthorizationPermissionMismatch'));
});
