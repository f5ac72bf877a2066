// Prints src/auth/sdk_vectors.inc: requests and tokens as the SDKs sign them, without a server. Run it again to see whether
// a newer SDK signs differently:
//   node tests/js/tools/make_auth_vectors.mjs > src/auth/sdk_vectors.inc
import crypto from 'node:crypto';
import * as blob from '@azure/storage-blob';
import * as queue from '@azure/storage-queue';
import * as file from '@azure/storage-file-share';
import * as lake from '@azure/storage-file-datalake';
import * as tables from '@azure/data-tables';
import legacy from 'azure-storage';

const ACCOUNT = 'devstoreaccount1';
const KEY = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';
const endpoint = `https://127.0.0.1/${ACCOUNT}`;

// All tokens are valid around this time; requests carry the time of their making.
const NOW = Date.parse('2026-03-01T12:00:00Z') / 1000;
const startsOn = new Date('2026-03-01T11:00:00Z');
const expiresOn = new Date('2026-03-02T11:00:00Z');

const quoted = (text) => JSON.stringify(String(text)).replaceAll('??', '?\\?');

function emit(name, service, kind, { method = 'GET', target, headers = {}, now = NOW }) {
  const list = Object.entries(headers).map(([key, value]) => `{${quoted(key)}, ${quoted(value)}}`);
  console.log(`{${quoted(name)}, ${service}, ${kind}, ${quoted(method)},\n ${quoted(target)},`);
  console.log(` {${list.join(',\n  ')}},\n ${now}},`);
}

// Requests that the SDKs sign with the account key, caught before they are sent.
class Caught extends Error {}
async function capture(name, service, kind, call) {
  let seen;
  const httpClient = {
    sendRequest: async (request) => {
      seen = request;
      throw new Caught();
    },
  };
  await call({ httpClient, retryOptions: { maxTries: 1, maxRetries: 0 } }).catch((error) => {
    if (!seen) throw error;
  });
  const url = new URL(seen.url);
  const headers = seen.headers.rawHeaders?.() ?? seen.headers.toJSON();
  for (const name of Object.keys(headers)) {
    if (/^(user-agent|accept.*|traceparent)$/i.test(name)) delete headers[name];
  }
  const now = Math.floor(Date.parse(headers['x-ms-date'] ?? headers.date) / 1000);
  emit(name, service, kind, { method: seen.method, target: url.pathname + url.search, headers, now });
}

async function sharedKeyRequests() {
  const key = new blob.StorageSharedKeyCredential(ACCOUNT, KEY);
  const at = (options, account = endpoint) => new blob.BlobServiceClient(account, key, options);
  const inBlob = (name, call, account) =>
    capture(name, 'kBlob', 'Kind::kOwner', (options) => call(at(options, account)));
  await inBlob('blob: list containers', (s) => s.listContainers({ prefix: 'a b' }).byPage().next());
  await inBlob('blob: create container', (s) => s.getContainerClient('c').create({ metadata: { b: '1', A: '2' } }));
  await inBlob('blob: put', (s) =>
    s.getContainerClient('c').getBlockBlobClient('dir/ä ö%+.txt').upload('hello', 5, {
      blobHTTPHeaders: { blobContentLanguage: 'de', blobContentType: 'text/plain' },
      metadata: { a1: 'x', a_1: 'y', spaced: 'bar  baz' },
      conditions: { ifNoneMatch: '*' },
    }));
  await inBlob('blob: put empty', (s) => s.getContainerClient('c').getBlockBlobClient('e').upload('', 0));
  await inBlob('blob: get range', (s) =>
    s.getContainerClient('c').getBlobClient('b').download(1, 10, {
      conditions: { ifMatch: '"0x1"', ifModifiedSince: startsOn, ifUnmodifiedSince: expiresOn },
    }));
  await inBlob('blob: delete with snapshots', (s) =>
    s.getContainerClient('c').getBlobClient('b').delete({ deleteSnapshots: 'include' }));
  await inBlob('blob: restore container', (s) => s.undeleteContainer('c', '01D60F8BB59A4652'));
  await inBlob('blob: secondary', (s) => s.getContainerClient('c').getBlobClient('b').getProperties(),
    `${endpoint}-secondary`);
  await inBlob('blob: root container list', (s) =>
    s.getContainerClient('c').listBlobsByHierarchy('/', { prefix: 'x/', includeTags: true, includeMetadata: true })
      .byPage({ maxPageSize: 7 }).next());

  const queueKey = new queue.StorageSharedKeyCredential(ACCOUNT, KEY);
  await capture('queue: put message', 'kQueue', 'Kind::kOwner', (options) =>
    new queue.QueueServiceClient(endpoint, queueKey, options).getQueueClient('q').sendMessage('hi'));
  const fileKey = new file.StorageSharedKeyCredential(ACCOUNT, KEY);
  await capture('file: create share', 'kFile', 'Kind::kOwner', (options) =>
    new file.ShareServiceClient(endpoint, fileKey, options).getShareClient('s')
      .create({ protocols: { smbEnabled: true }, enableSnapshotVirtualDirectoryAccess: true }));
  const lakeKey = new lake.StorageSharedKeyCredential(ACCOUNT, KEY);
  await capture('dfs: create directory', 'kBlob', 'Kind::kOwner', (options) =>
    new lake.DataLakeServiceClient(endpoint, lakeKey, options).getFileSystemClient('f').getDirectoryClient('d').create());
  const tableKey = new tables.AzureNamedKeyCredential(ACCOUNT, KEY);
  await capture('table: list', 'kTable', 'Kind::kOwner', (options) =>
    new tables.TableServiceClient(endpoint, tableKey, options).listTables().byPage().next());
  await capture('table: insert', 'kTable', 'Kind::kOwner', (options) =>
    new tables.TableClient(endpoint, 'People', tableKey, options).createEntity({ partitionKey: 'p', rowKey: 'r' }));
  await capture('table: properties', 'kTable', 'Kind::kOwner', (options) =>
    new tables.TableServiceClient(endpoint, tableKey, options).getProperties());
}

const VERSIONS = ['2015-04-05', '2016-05-31', '2018-03-28', '2018-11-09', '2019-12-12', '2020-02-10', '2020-10-02',
  '2020-12-06', '2021-12-02', '2024-11-04', '2025-07-05', '2026-02-06', '2026-04-06', '2026-06-06'];

const overrides = {
  cacheControl: 'no-cache', contentDisposition: 'attachment; filename="ä.txt"', contentEncoding: 'gzip',
  contentLanguage: 'de', contentType: 'text/plain',
};
const everywhere = { ipRange: { start: '127.0.0.0', end: '127.0.0.255' }, protocol: 'https,http' };

function accountTokens() {
  const key = new blob.StorageSharedKeyCredential(ACCOUNT, KEY);
  for (const version of VERSIONS) {
    const token = blob.generateAccountSASQueryParameters({
      version, startsOn, expiresOn, ...everywhere, services: 'bqtf', resourceTypes: 'sco',
      permissions: blob.AccountSASPermissions.parse('rwdlacup'),
      ...(version >= '2020-12-06' ? { encryptionScope: 'scope' } : {}),
    }, key);
    emit(`account SAS ${version}`, 'kBlob', 'Kind::kAccountSas', { target: `/${ACCOUNT}/c/b?${token}` });
  }
  const tableToken = tables.generateAccountSas(new tables.AzureNamedKeyCredential(ACCOUNT, KEY), { expiresOn });
  emit('account SAS of the table SDK', 'kTable', 'Kind::kAccountSas', { target: `/${ACCOUNT}/Tables?${tableToken}` });
}

function blobTokens(kind, key, versions, extra = {}) {
  const resources = [
    ['container', {}, 'c/dir/b'],
    ['blob', { blobName: 'dir/ä ö%+.txt' }, 'c/dir/%C3%A4%20%C3%B6%25%2B.txt'],
    ['snapshot', { blobName: 'b', snapshotTime: '2026-03-01T11:30:00.1234567Z' },
      'c/b?snapshot=2026-03-01T11:30:00.1234567Z', '2018-11-09'],
    ['version', { blobName: 'b', versionId: '2026-03-01T11:30:00.1234567Z' },
      'c/b?versionid=2026-03-01T11:30:00.1234567Z', '2019-12-12'],
  ];
  for (const version of versions) {
    for (const [what, names, path, since] of resources) {
      if (since && version < since) continue;
      const token = blob.generateBlobSASQueryParameters({
        version, startsOn, expiresOn, ...everywhere, ...overrides, containerName: 'c', ...names, ...extra,
        permissions: what === 'container' ? blob.ContainerSASPermissions.parse('rcwdl')
          : blob.BlobSASPermissions.parse('racwd'),
        ...(version >= '2020-12-06' ? { encryptionScope: 'scope' } : {}),
      }, ...key).toString();
      emit(`${kind.slice(6)} ${what} ${version}`, 'kBlob', kind,
        { target: `/${ACCOUNT}/${path}${path.includes('?') ? '&' : '?'}${token.replace(/snapshot=[^&]*&?/, '')}` });
    }
  }
}

function directoryTokens(kind, key, versions) {
  for (const version of versions) {
    const token = lake.generateDataLakeSASQueryParameters({
      version, startsOn, expiresOn, fileSystemName: 'c', pathName: 'dir/sub', isDirectory: true, directoryDepth: 2,
      permissions: lake.DirectorySASPermissions.parse('racwdl'),
    }, ...key);
    emit(`${kind.slice(6)} directory ${version}`, 'kBlob', kind, { target: `/${ACCOUNT}/c/dir/sub/deeper/b?${token}` });
  }
}

function otherServiceTokens() {
  const queueKey = new queue.StorageSharedKeyCredential(ACCOUNT, KEY);
  const fileKey = new file.StorageSharedKeyCredential(ACCOUNT, KEY);
  for (const version of VERSIONS) {
    const q = queue.generateQueueSASQueryParameters({
      version, startsOn, expiresOn, ...everywhere, queueName: 'q', permissions: queue.QueueSASPermissions.parse('raup'),
    }, queueKey);
    emit(`queue SAS ${version}`, 'kQueue', 'Kind::kServiceSas', { target: `/${ACCOUNT}/q/messages?${q}` });
    const f = file.generateFileSASQueryParameters({
      version, startsOn, expiresOn, ...everywhere, ...overrides, shareName: 's', filePath: 'dir/f',
      permissions: file.FileSASPermissions.parse('rcwd'),
    }, fileKey);
    emit(`file SAS ${version}`, 'kFile', 'Kind::kServiceSas', { target: `/${ACCOUNT}/s/dir/f?${f}` });
    const s = file.generateFileSASQueryParameters({
      version, startsOn, expiresOn, shareName: 's', permissions: file.ShareSASPermissions.parse('rcwdl'),
    }, fileKey);
    emit(`share SAS ${version}`, 'kFile', 'Kind::kServiceSas', { target: `/${ACCOUNT}/s/dir/f?${s}` });
  }
  const tableKey = new tables.AzureNamedKeyCredential(ACCOUNT, KEY);
  const t = tables.generateTableSas('People', tableKey, {
    startsOn, expiresOn, permissions: { query: true, add: true, update: true, delete: true },
    startPartitionKey: 'a', startRowKey: 'b', endPartitionKey: 'y', endRowKey: 'z',
  });
  emit('table SAS', 'kTable', 'Kind::kServiceSas', { target: `/${ACCOUNT}/People?${t}` });
}

function legacyTokens() {
  const policy = {
    AccessPolicy: { Permissions: 'r', Start: startsOn, Expiry: expiresOn, IPAddressOrRange: '127.0.0.1',
      Protocols: 'https,http' },
  };
  const service = legacy.createBlobService(ACCOUNT, KEY, endpoint);
  emit('legacy blob SAS', 'kBlob', 'Kind::kServiceSas',
    { target: `/${ACCOUNT}/con/b?${service.generateSharedAccessSignature('con', 'b', policy, { contentType: 'a/b' })}` });
  const queues = legacy.createQueueService(ACCOUNT, KEY, endpoint);
  emit('legacy queue SAS', 'kQueue', 'Kind::kServiceSas',
    { target: `/${ACCOUNT}/que/messages?${queues.generateSharedAccessSignature('que', policy)}` });
}

// The value that Kyanite gives for these terms, worked out independently of it.
function delegationKey(service, version) {
  const terms = ['oid-1', 'tid-1', '2026-03-01T10:00:00Z', '2026-03-03T10:00:00Z', service, version, ''];
  const mac = crypto.createHmac('sha256', Buffer.from(KEY, 'base64')).update('kyanite user delegation key 1');
  for (const term of terms) mac.update('\n').update(Buffer.from([term.length])).update(term);
  return {
    signedObjectId: terms[0], signedTenantId: terms[1], signedStartsOn: new Date(terms[2]),
    signedExpiresOn: new Date(terms[3]), signedService: service, signedVersion: version, value: mac.digest('base64'),
  };
}

// Good only for requests that carry this header and this parameter.
function requestBoundToken() {
  const token = blob.generateBlobSASQueryParameters({
    version: '2026-04-06', startsOn, expiresOn, containerName: 'c', blobName: 'b',
    permissions: blob.BlobSASPermissions.parse('r'), correlationId: '01234567-89ab-cdef-0123-456789abcdef',
    requestHeaders: { 'x-ms-meta-one': '1', 'x-ms-meta-two': '2' }, requestQueryParameters: { timeout: '30' },
  }, delegationKey('b', '2026-04-06'), ACCOUNT);
  emit('user delegation SAS bound to request parts', 'kBlob', 'Kind::kUserDelegationSas', {
    target: `/${ACCOUNT}/c/b?timeout=30&${token}`, headers: { 'x-ms-meta-one': '1', 'x-ms-meta-two': '2' },
  });
}

const plain = new blob.StorageSharedKeyCredential(ACCOUNT, KEY);
const delegating = VERSIONS.filter((version) => version >= '2018-11-09');
await sharedKeyRequests();
accountTokens();
blobTokens('Kind::kServiceSas', [plain], VERSIONS);
directoryTokens('Kind::kServiceSas', [new lake.StorageSharedKeyCredential(ACCOUNT, KEY)], ['2020-02-10', '2021-12-02']);
blobTokens('Kind::kUserDelegationSas', [delegationKey('b', '2021-12-02'), ACCOUNT], delegating);
directoryTokens('Kind::kUserDelegationSas', [delegationKey('b', '2021-12-02'), ACCOUNT],
  delegating.filter((version) => version >= '2020-02-10'));
requestBoundToken();
otherServiceTokens();
legacyTokens();
for (const version of delegating.filter((v) => v >= '2025-07-05')) {
  const q = queue.generateQueueSASQueryParameters({
    version, startsOn, expiresOn, queueName: 'q', permissions: queue.QueueSASPermissions.parse('raup'),
  }, delegationKey('q', version), ACCOUNT);
  emit(`queue user delegation SAS ${version}`, 'kQueue', 'Kind::kUserDelegationSas',
    { target: `/${ACCOUNT}/q/messages?${q}` });
  const f = file.generateFileSASQueryParameters({
    version, startsOn, expiresOn, ...overrides, shareName: 's', filePath: 'dir/f',
    permissions: file.FileSASPermissions.parse('rcwd'),
  }, delegationKey('f', version), ACCOUNT);
  emit(`file user delegation SAS ${version}`, 'kFile', 'Kind::kUserDelegationSas', { target: `/${ACCOUNT}/s/dir/f?${f}` });
}
