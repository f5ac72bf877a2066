// What a token does not reach: beyond its directory, its snapshot or version, its resource types and letters. Tokens are made
// here, since no SDK makes the wrong ones.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { test } from 'node:test';
import { blobServer, namesOf, request, textOf } from './blob_fixtures.mjs';
import { ACCOUNT, KEY } from './server.mjs';

const { server, service, freshContainer } = await blobServer({ flags: ['--setting', 'blobVersioning=true'] });
const hours = (count) => new Date(Date.now() + count * 3_600_000).toISOString().replace(/\.\d+Z/, 'Z');
const mac = (text) => crypto.createHmac('sha256', Buffer.from(KEY, 'base64')).update(text).digest('base64');
const encode = (fields) => Object.entries(fields).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');

const sv = '2021-12-02';
const se = hours(1);
// A service SAS of the Blob service for `path` in the container, signed over `instant` for snapshots and versions.
function blobToken(container, sr, sp, { path = '', instant = '', extra = {} } = {}) {
  const resource = `/blob/${ACCOUNT}/${container}${path && `/${path}`}`;
  const text = [sp, '', se, resource, '', '', extra.spr ?? '', sv, sr, instant, '', '', '', '', '', ''].join('\n');
  return encode({ sv, sr, sp, se, ...extra, sig: mac(text) });
}
function accountToken(ss, srt, sp) {
  const version = '2021-12-02';
  const text = [ACCOUNT, sp, ss, srt, '', se, '', '', version, '', ''].join('\n');
  return encode({ sv: version, ss, srt, sp, se, sig: mac(text) });
}
const send = (method, path, token, options = {}) => request(server, method, `/${ACCOUNT}/${path}${path.includes('?') ? '&' : '?'}${token}`,
  { sign: false, ...options, headers: { 'x-ms-version': sv, ...(options.body !== undefined && { 'content-length': String(options.body.length) }),
    ...options.headers } });
const put = { body: 'new', headers: { 'x-ms-blob-type': 'BlockBlob' } };
const names = (reply) => [...reply.text.matchAll(/<Name>([^<]*)<\/Name>/g)].map((match) => match[1]);
const outcome = (reply) => [reply.status, reply.code];

async function tree() {
  const container = await freshContainer();
  for (const name of ['dir/a', 'dir/sub/b', 'dir', 'directory', 'other/c']) {
    await container.getBlockBlobClient(name).upload(name, name.length, { tags: { color: 'red' } });
  }
  return container;
}

test('a directory token reads, writes and lists inside its directory', async () => {
  const container = await tree();
  const box = container.containerName;
  const token = blobToken(box, 'd', 'rcwdlft', { path: 'dir', extra: { sdd: '1' } });
  assert.equal((await send('GET', `${box}/dir/a`, token)).text, 'dir/a');
  assert.equal((await send('GET', `${box}/dir/sub/b`, token)).text, 'dir/sub/b');
  assert.equal((await send('PUT', `${box}/dir/new`, token, put)).status, 201);
  const list = `${box}?restype=container&comp=list`;
  assert.deepEqual(names(await send('GET', `${list}&prefix=dir/`, token)), ['dir/a', 'dir/new', 'dir/sub/b']);
  assert.deepEqual(names(await send('GET', `${list}&prefix=dir/sub/`, token)), ['dir/sub/b']);
  assert.deepEqual(names(await send('GET', `${list}&prefix=dir/&marker=&startFrom=a`, token)), ['dir/a', 'dir/new', 'dir/sub/b']);
  const deeper = blobToken(box, 'd', 'l', { path: 'dir/sub', extra: { sdd: '2' } });
  assert.deepEqual(names(await send('GET', `${list}&prefix=dir/sub/`, deeper)), ['dir/sub/b']);
});

test('and nothing outside of it', async () => {
  const container = await tree();
  const box = container.containerName;
  const token = blobToken(box, 'd', 'rcwdxyltfi', { path: 'dir', extra: { sdd: '1' } });
  const list = `${box}?restype=container&comp=list`;
  const find = `${box}?restype=container&comp=blobs&where=${encodeURIComponent("color='red'")}`;
  const cases = [
    ['GET', `${box}/other/c`], ['GET', `${box}/directory`], ['HEAD', `${box}/other/c`], ['DELETE', `${box}/other/c`],
    ['PUT', `${box}/other/new`, put], ['PUT', `${box}/directory`, put], ['GET', `${box}/other/c?comp=tags`],
    ['GET', list], ['GET', `${list}&prefix=`], ['GET', `${list}&prefix=d`], ['GET', `${list}&prefix=dir`], ['GET', `${list}&prefix=other/`],
    ['GET', `${list}&directory=dir`], ['GET', `${list}&directory=dir&prefix=`], ['GET', `${list}&prefix=&prefix=dir/`],
    ['GET', `${list}&resource=filesystem&directory=dir`], ['GET', `${list}&delimiter=/`],
    ['GET', find], ['GET', `${find}&prefix=dir/`], ['GET', `${find}&directory=dir`],
    ['GET', `${box}?restype=container&prefix=dir/`], ['GET', `${box}?restype=container&comp=acl&prefix=dir/`],
    ['POST', `${box}?restype=container&comp=batch&prefix=dir/`, { body: '', headers: { 'content-type': 'multipart/mixed; boundary=b' } }],
    ['GET', '?comp=list&prefix=dir/'],
  ];
  for (const [method, path, options] of cases) {
    const reply = await send(method, path, token, options);
    assert.equal(reply.status, 403, `${method} ${path}: ${reply.status} ${reply.text}`);
  }
  // The depth is not signed, but what it leads to is.
  for (const sdd of ['0', '2', '-1', '', '1.0']) {
    const changed = token.replace('sdd=1', `sdd=${sdd}`);
    assert.equal((await send('GET', `${box}/dir/a`, changed)).status, 403, sdd);
    assert.equal((await send('GET', list, changed)).status, 403, sdd);
  }
  assert.equal(await textOf(container.getBlobClient('directory')), 'directory');
});

test('a directory token as the source of a copy and in a batch', async () => {
  const container = await tree();
  const box = container.containerName;
  const token = blobToken(box, 'd', 'rd', { path: 'dir', extra: { sdd: '1' } });
  const copied = async (name) => {
    const source = `${server.blobUrl}/${box}/${name}?${token}`;
    return (await request(server, 'PUT', `/${ACCOUNT}/${box}/copy`, { headers: { 'x-ms-copy-source': source, 'x-ms-requires-sync': 'true' } })).status;
  };
  assert.equal(await copied('dir/a'), 202);
  assert.equal(await copied('other/c'), 403);
  const part = (name, id) => `--b\r\nContent-Type: application/http\r\nContent-ID: ${id}\r\n\r\n` +
    `DELETE /${ACCOUNT}/${box}/${name}?${token} HTTP/1.1\r\nx-ms-version: ${sv}\r\n\r\n\r\n`;
  const reply = await request(server, 'POST', `/${ACCOUNT}/?comp=batch`, { headers: { 'content-type': 'multipart/mixed; boundary=b' },
    body: `${part('dir/a', 0)}${part('other/c', 1)}--b--\r\n` });
  assert.deepEqual([...reply.text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]), ['202', '403']);
  assert.deepEqual(await namesOf(container.listBlobsFlat({ prefix: 'other/' })), ['other/c']);
});

// A blob with two versions and a snapshot of each state.
async function formers() {
  const container = await freshContainer();
  const blob = container.getBlockBlobClient('b');
  const states = [];
  for (const text of ['one', 'two']) {
    const { versionId } = await blob.upload(text, 3);
    const { snapshot } = await blob.createSnapshot();
    states.push({ versionId, snapshot });
  }
  await blob.upload('now', 3);
  return { blob, box: container.containerName, states };
}

test('a token for a version or a snapshot reaches that one only', async () => {
  const { blob, box, states: [{ versionId, snapshot }, second] } = await formers();
  const version = blobToken(box, 'bv', 'racwdxytmeopi', { path: 'b', instant: versionId });
  const shot = blobToken(box, 'bs', 'racwdxytmeopi', { path: 'b', instant: snapshot });
  const at = (name, value) => `${box}/b?${name}=${encodeURIComponent(value)}`;
  assert.equal((await send('GET', at('versionid', versionId), version)).text, 'one');
  assert.equal((await send('GET', at('snapshot', snapshot), shot)).text, 'one');
  const wrong = [
    [version, at('versionid', second.versionId)], [version, at('snapshot', snapshot)], [version, `${box}/b`],
    [shot, at('snapshot', second.snapshot)], [shot, at('versionid', versionId)], [shot, `${box}/b`],
  ];
  for (const [token, path] of wrong) assert.equal((await send('GET', path, token)).status, 403, path);
  const writes = [
    ['PUT', 'comp=undelete'], ['PUT', 'comp=metadata'], ['PUT', 'comp=snapshot'], ['PUT', 'comp=lease', { 'x-ms-lease-action': 'acquire' }],
    ['PUT', 'comp=block&blockid=QQ%3D%3D'], ['PUT', 'comp=properties'], ['PUT', '', { 'x-ms-blob-type': 'BlockBlob' }], ['PUT', 'comp=blocklist'],
  ];
  for (const [token, path] of [[version, at('versionid', versionId)], [shot, at('snapshot', snapshot)]]) {
    for (const [method, query, headers] of writes) {
      const reply = await send(method, `${path}&${query}`, token, { body: '', headers });
      assert.deepEqual(outcome(reply), [403, 'AuthorizationFailure'], `${method} ${query}`);
    }
  }
  assert.equal(await textOf(blob), 'now');
});

test('a request that names a version and a snapshot is one 400', async () => {
  const { blob, box, states: [{ versionId, snapshot }] } = await formers();
  const both = `snapshot=${encodeURIComponent(snapshot)}&versionid=${encodeURIComponent(versionId)}`;
  const expected = [400, 'MutuallyExclusiveQueryParameters'];
  const tokens = [blobToken(box, 'bv', 'rdx', { path: 'b', instant: versionId }), blobToken(box, 'bs', 'rdx', { path: 'b', instant: snapshot }),
    blobToken(box, 'b', 'rdx', { path: 'b' }), blobToken(box, 'c', 'x'), accountToken('b', 'sco', 'rwdx')];
  for (const token of tokens) {
    for (const method of ['GET', 'DELETE']) assert.deepEqual(outcome(await send(method, `${box}/b?${both}`, token)), expected);
  }
  for (const query of ['', '&comp=metadata', '&comp=tags', '&comp=blocklist']) {
    assert.deepEqual(outcome(await request(server, 'GET', `/${ACCOUNT}/${box}/b?${both}${query}`)), expected, query);
  }
  for (const query of ['&comp=undelete', '&comp=tier', '&comp=metadata']) {
    assert.deepEqual(outcome(await request(server, 'PUT', `/${ACCOUNT}/${box}/b?${both}${query}`)), expected, query);
  }
  const source = `${server.blobUrl}/${box}/b?${both}&${accountToken('b', 'o', 'r')}`;
  const copy = await request(server, 'PUT', `/${ACCOUNT}/${box}/copy`, { headers: { 'x-ms-copy-source': source, 'x-ms-requires-sync': 'true' } });
  assert.equal(copy.status, 400);
  const batch = await request(server, 'POST', `/${ACCOUNT}/?comp=batch`, { headers: { 'content-type': 'multipart/mixed; boundary=b' },
    body: `--b\r\nContent-Type: application/http\r\n\r\nDELETE /${ACCOUNT}/${box}/b?${both}&${tokens[4]} HTTP/1.1\r\n\r\n\r\n--b--\r\n` });
  assert.match(batch.text, /HTTP\/1\.1 400[^]*MutuallyExclusiveQueryParameters/);
  assert.equal(await textOf(blob.withVersion(versionId)), 'one');
  assert.equal(await textOf(blob.withSnapshot(snapshot)), 'one');
});

test('deleting versions and deleting snapshots are two permissions', async () => {
  const { blob, box, states: [{ versionId, snapshot }] } = await formers();
  const remove = (query, letters) => send('DELETE', `${box}/b?${query}`, blobToken(box, 'b', letters, { path: 'b' }));
  const denied = [403, 'AuthorizationPermissionMismatch'];
  assert.deepEqual(outcome(await remove(`snapshot=${encodeURIComponent(snapshot)}`, 'x')), denied);
  assert.deepEqual(outcome(await remove(`versionid=${encodeURIComponent(versionId)}`, 'd')), denied);
  assert.equal(await textOf(blob.withSnapshot(snapshot)), 'one');
  assert.equal((await remove(`versionid=${encodeURIComponent(versionId)}`, 'x')).status, 202);
  assert.equal((await remove(`snapshot=${encodeURIComponent(snapshot)}`, 'd')).status, 202);
});

test('nobody restores a blob by naming one of its snapshots', async () => {
  const { box, states: [{ snapshot }] } = await formers();
  const reply = await request(server, 'PUT', `/${ACCOUNT}/${box}/b?comp=undelete&snapshot=${encodeURIComponent(snapshot)}`);
  assert.equal(reply.status, 400);
});

test('tags are not seen, counted or guessed at without their permission', async () => {
  const container = await tree();
  const box = container.containerName;
  await container.setAccessPolicy('container');
  const list = `${box}?restype=container&comp=list&prefix=dir/`;
  const with_condition = { headers: { 'x-ms-if-tags': "color='red'" } };
  const seen = async (token) => {
    const read = await send('GET', `${box}/dir/a`, token);
    const head = await send('HEAD', `${box}/dir/a`, token);
    const listed = await send('GET', list, token);
    return [read.headers['x-ms-tag-count'], head.headers['x-ms-tag-count'], /TagCount/.test(listed.text),
      (await send('GET', `${box}/dir/a?comp=tags`, token)).status, (await send('GET', `${list}&include=tags`, token)).status,
      (await send('GET', `${box}/dir/a`, token, with_condition)).status];
  };
  const all = ['1', '1', true, 200, 200, 200];
  const none = [undefined, undefined, false, 403, 403, 403];
  assert.deepEqual(await seen(blobToken(box, 'c', 'rlt')), all);
  assert.deepEqual(await seen(blobToken(box, 'c', 'rwdlf')), none);
  assert.deepEqual(await seen(accountToken('b', 'sco', 'rlt')), all);
  assert.deepEqual(await seen(accountToken('b', 'sco', 'rwdlf')), none);
  assert.deepEqual(await seen('x=1'), [undefined, undefined, false, 401, 401, 401]);
  // Nor through a copy.
  const copied = async (sp, headers) => {
    const source = `${server.blobUrl}/${box}/dir/a?${blobToken(box, 'c', sp)}`;
    return (await request(server, 'PUT', `/${ACCOUNT}/${box}/copy`,
      { headers: { 'x-ms-copy-source': source, 'x-ms-requires-sync': 'true', ...headers } })).status;
  };
  for (const headers of [{ 'x-ms-source-if-tags': "color='red'" }, { 'x-ms-copy-source-tag-option': 'COPY' }]) {
    assert.equal(await copied('r', headers), 403, JSON.stringify(headers));
    assert.equal(await copied('rt', headers), 202, JSON.stringify(headers));
  }
});

test('a token for HTTPS is not satisfied by how a copy source is spelled', async () => {
  const container = await tree();
  const box = container.containerName;
  const copied = async (scheme, spr) => {
    const token = blobToken(box, 'c', 'r', { extra: { spr } });
    const source = `${server.blobUrl}/${box}/dir/a?${token}`.replace(/^http:/, `${scheme}:`);
    return (await request(server, 'PUT', `/${ACCOUNT}/${box}/copy`,
      { headers: { 'x-ms-copy-source': source, 'x-ms-requires-sync': 'true' } })).status;
  };
  assert.equal(await copied('http', 'https,http'), 202);
  assert.equal(await copied('https', 'https,http'), 202);
  assert.equal(await copied('http', 'https'), 403);
  assert.equal(await copied('https', 'https'), 403);
});

test('a parameter of a token given twice is refused', async () => {
  const container = await tree();
  const box = container.containerName;
  const token = blobToken(box, 'c', 'rl');
  for (const added of [token.match(/sig=[^&]*/)[0], 'sig=x', 'SIG=x', 's%69g=x', 'sp=rl', 'sr=c', 'se=2099-01-01']) {
    for (const both of [`${token}&${added}`, `${added}&${token}`]) {
      assert.deepEqual(outcome(await send('GET', `${box}/dir/a`, both)), [403, 'AuthenticationFailed'], added);
    }
  }
});

test('the signature of a copy source is not kept, however it is spelled', async () => {
  const container = await tree();
  const box = container.containerName;
  for (const name of ['sig', 'SIG', 's%69g']) {
    const source = `${server.blobUrl}/${box}/dir/a?${blobToken(box, 'c', 'r').replace('sig=', `${name}=`)}`;
    const reply = await request(server, 'PUT', `/${ACCOUNT}/${box}/copy`, { headers: { 'x-ms-copy-source': source } });
    assert.equal(reply.status, 202);
    const { copySource } = await container.getBlobClient('copy').getProperties();
    assert.doesNotMatch(copySource, /s(i|%69)g/i);
    assert.match(copySource, /sp=r/);
  }
});

test('the contents of files are objects, their lists of the share', async () => {
  const share = 'scoped';
  const own = (method, path, options) => request(server, method, `/${ACCOUNT}/${share}${path}`, { service: 'File', ...options });
  assert.equal((await own('PUT', '?restype=share')).status, 201);
  assert.equal((await own('PUT', '/f', { headers: { 'x-ms-type': 'file', 'x-ms-content-length': '4' } })).status, 201);
  const range = { body: 'abcd', headers: { 'x-ms-write': 'update', 'x-ms-range': 'bytes=0-3' } };
  const outcomes = async (srt) => {
    const token = accountToken('f', srt, 'rwdlc');
    const as = async (method, path, options) => (await send(method, `${share}${path}`, token, { service: 'File', ...options })).status;
    return [await as('PUT', '/f?comp=range', range), await as('GET', '/f'), await as('HEAD', '/f'), await as('GET', '/f?comp=rangelist'),
      await as('PUT', '/f?comp=metadata', { body: '' }), await as('GET', '?restype=directory&comp=list'), await as('GET', '?restype=share')];
  };
  assert.deepEqual(await outcomes('o'), [201, 200, 200, 200, 200, 403, 403]);
  assert.deepEqual(await outcomes('c'), [403, 403, 403, 403, 403, 200, 200]);
  assert.deepEqual(await outcomes('s'), [403, 403, 403, 403, 403, 403, 403]);
});

test('permissions that a service does not have are refused in policies', async () => {
  const container = await freshContainer();
  const queue = await request(server, 'PUT', `/${ACCOUNT}/policies`, { service: 'Queue' });
  assert.equal(queue.status, 201);
  await request(server, 'PUT', `/${ACCOUNT}/policies?restype=share`, { service: 'File' });
  const policy = (letters) => '<SignedIdentifiers><SignedIdentifier><Id>p</Id><AccessPolicy><Expiry>2099-01-01</Expiry>' +
    `<Permission>${letters}</Permission></AccessPolicy></SignedIdentifier></SignedIdentifiers>`;
  const places = [['Blob', `${container.containerName}?restype=container&comp=acl`, 'racwdxyltfmeopi', 'u'],
    ['Queue', 'policies?comp=acl', 'raup', 'w'], ['File', 'policies?restype=share&comp=acl', 'rcwdl', 'a']];
  for (const [service_name, path, known, unknown] of places) {
    const set = async (letters) => outcome(await request(server, 'PUT', `/${ACCOUNT}/${path}`, { service: service_name, body: policy(letters) }));
    assert.ok((await set(known))[0] < 300, service_name);
    for (const letters of [unknown, 'rz', 'R']) assert.deepEqual(await set(letters), [400, 'InvalidXmlDocument'], `${service_name} ${letters}`);
  }
});
