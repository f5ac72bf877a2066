// Static websites: the container $web as pages, on a listener of its own.
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { blobServer, bytesOf } from './blob_fixtures.mjs';
import { ACCOUNT, Server } from './server.mjs';

const { server, service } = await blobServer({ flags: ['--webPort', '0'] });
const { port } = new URL(server.url('Web'));

// Asks as a browser does: the account is in the host name.
async function ask(path, { method = 'GET', headers = {}, host = `${ACCOUNT}.web.localhost:${port}` } = {}) {
  const response = await new Promise((resolve, reject) => {
    const sent = http.request({ host: '127.0.0.1', port, method, path, headers: { host, ...headers } }, resolve);
    sent.on('error', reject);
    sent.end();
  });
  return { status: response.statusCode, headers: response.headers, text: (await bytesOf(response)).toString() };
}

async function publish(website) {
  await service.setProperties({ staticWebsite: website });
}

const web = service.getContainerClient('$web');
const page = async (name, text, contentType = 'text/html') => {
  await web.getBlockBlobClient(name).upload(text, text.length,
    { blobHTTPHeaders: { blobContentType: contentType }, metadata: { secret: 'kept' } });
};

test('an account without a website has no pages', async () => {
  const got = await ask('/');
  assert.equal(got.status, 404);
  assert.match(got.headers['content-type'], /text\/html/);
});

test('pages, index documents and the error document', async () => {
  await web.create();
  for (const [name, text] of [['index.html', 'home'], ['about.html', 'about'], ['docs/index.html', 'docs'],
    ['docs/a b.html', 'spaced'], ['errors/404.html', 'nothing here']]) await page(name, text);
  await page('style.css', 'p {}', 'text/css');
  await publish({ enabled: true, indexDocument: 'index.html', errorDocument404Path: 'errors/404.html' });
  const rows = [
    ['/', 200, 'home'],
    ['/about.html', 200, 'about'],
    ['/about.html?comp=list&restype=container', 200, 'about'],
    ['/docs/', 200, 'docs'],
    ['/docs', 200, 'docs'],
    ['/docs/a%20b.html', 200, 'spaced'],
    ['/style.css', 200, 'p {}'],
    ['/missing', 404, 'nothing here'],
    ['/docs/missing/', 404, 'nothing here'],
  ];
  for (const [path, status, text] of rows) {
    const got = await ask(path);
    assert.equal(got.status, status, path);
    assert.equal(got.text, text, path);
    const head = await ask(path, { method: 'HEAD' });
    assert.equal(head.status, status, path);
    assert.equal(head.headers['content-length'], String(text.length));
    assert.equal(head.text, '');
  }
  const byPath = await ask(`/${ACCOUNT}/about.html`, { host: `127.0.0.1:${port}` });
  assert.equal(byPath.text, 'about');
  assert.equal((await ask('/style.css')).headers['content-type'], 'text/css');
});

test('metadata and other matters of the protocol stay inside', async () => {
  const got = await ask('/about.html');
  const own = Object.keys(got.headers).filter((name) => name.startsWith('x-ms-')).sort();
  assert.deepEqual(own, ['x-ms-request-id', 'x-ms-version']);
  assert.match(got.headers.etag, /^"0x/);
  assert.ok(got.headers['last-modified']);
});

test('ranges and conditions', async () => {
  const { headers } = await ask('/about.html');
  const part = await ask('/about.html', { headers: { range: 'bytes=1-3' } });
  assert.equal(part.status, 206);
  assert.equal(part.text, 'bou');
  assert.equal(part.headers['content-range'], 'bytes 1-3/5');
  assert.equal((await ask('/about.html', { headers: { range: 'bytes=9-' } })).status, 416);
  assert.equal((await ask('/about.html', { headers: { 'if-none-match': headers.etag } })).status, 304);
  assert.equal((await ask('/about.html', { headers: { 'if-modified-since': headers['last-modified'] } })).status, 304);
  assert.equal((await ask('/about.html', { headers: { 'if-match': '"0x1"' } })).status, 412);
  // They say nothing about the page that tells of none.
  const missing = await ask('/missing', { headers: { range: 'bytes=0-1', 'if-none-match': headers.etag } });
  assert.equal(missing.status, 404);
  assert.equal(missing.text, 'nothing here');
});

test('nothing can be written or listed', async () => {
  for (const method of ['PUT', 'POST', 'DELETE']) {
    assert.equal((await ask('/about.html', { method })).status, 405, method);
  }
  assert.equal((await ask('/?comp=list', {})).text, 'home');
  assert.equal((await ask('/', { host: `other.web.localhost:${port}` })).status, 404);
});

test('without an error document, and with a page for every directory', async () => {
  await publish({ enabled: true, defaultIndexDocumentPath: 'about.html' });
  assert.equal((await ask('/')).text, 'about');
  assert.equal((await ask('/docs/')).text, 'about');
  const missing = await ask('/missing');
  assert.equal(missing.status, 404);
  assert.match(missing.text, /does not exist/);
  await publish({ enabled: false });
  assert.equal((await ask('/about.html')).status, 404);
});

test('there is no such listener unless it is asked for', async () => {
  const quiet = await Server.start();
  assert.equal(quiet.url('Web'), undefined);
  await quiet.stop();
});
