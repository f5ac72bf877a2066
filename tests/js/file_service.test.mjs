// The properties of the File service, CORS, and handles without SMB clients.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileServer, fileWith, refused, request, rootOf } from './file_fixtures.mjs';

const { server, service, freshShare } = await fileServer();

test('properties come back as they were set, section by section', async () => {
  const metrics = { version: '1.0', enabled: true, includeAPIs: true, retentionPolicy: { enabled: true, days: 5 } };
  await service.setProperties({ hourMetrics: metrics, minuteMetrics: { ...metrics, retentionPolicy: { enabled: true, days: 3 } } });
  let shown = await service.getProperties();
  assert.equal(shown.hourMetrics.retentionPolicy.days, 5);
  assert.equal(shown.minuteMetrics.retentionPolicy.days, 3);
  assert.equal(shown.protocol.smb.multichannel.enabled, false);
  await service.setProperties({ protocol: { smb: { multichannel: { enabled: true } } } });
  shown = await service.getProperties();
  assert.equal(shown.protocol.smb.multichannel.enabled, true);
  assert.equal(shown.hourMetrics.enabled, true);
  await assert.rejects(service.setProperties({ hourMetrics: { ...metrics, retentionPolicy: { enabled: true, days: 366 } } }),
    refused(400, 'InvalidXmlDocument'));
  const answer = await request(server, 'PUT', '/?restype=service&comp=properties', { body: '<x' });
  assert.deepEqual([answer.status, answer.code], [400, 'InvalidXmlDocument']);
});

test('CORS', async () => {
  const rule = { allowedOrigins: 'http://a.example', allowedMethods: 'GET,PUT', allowedHeaders: 'x-ms-*', exposedHeaders: 'x-ms-*',
    maxAgeInSeconds: 60 };
  await service.setProperties({ cors: [rule] });
  const share = await freshShare();
  const preflight = (origin, method) => request(server, 'OPTIONS', `/${share.name}/file`, {
    sign: false, headers: { origin, 'access-control-request-method': method },
  });
  const allowed = await preflight('http://a.example', 'PUT');
  assert.equal(allowed.status, 200);
  assert.equal(allowed.headers['access-control-allow-origin'], 'http://a.example');
  assert.equal(allowed.headers['access-control-max-age'], '60');
  for (const [origin, method] of [['http://b.example', 'PUT'], ['http://a.example', 'DELETE']]) {
    const denied = await preflight(origin, method);
    assert.equal(denied.status, 403);
    assert.match(denied.text, /<Code>CorsPreflightFailure<\/Code>/);
  }
  const got = await request(server, 'GET', `/${share.name}?restype=share`, { headers: { origin: 'http://a.example' } });
  assert.equal(got.headers['access-control-allow-origin'], 'http://a.example');
  await service.setProperties({ cors: [] });
});

test('without SMB clients there are no handles', async () => {
  const share = await freshShare();
  const { directoryClient } = await share.createDirectory('d');
  const file = await fileWith(directoryClient, 'file', 'x');
  for (const place of [rootOf(share), directoryClient, file]) {
    assert.deepEqual(await Array.fromAsync(place.listHandles()), []);
    assert.equal((await place.forceCloseAllHandles()).closedHandlesCount, 0);
    assert.equal((await place.forceCloseHandle('12345')).closedHandlesCount, 0);
  }
  assert.deepEqual(await Array.fromAsync(directoryClient.listHandles({ recursive: true })), []);
  await assert.rejects(file.forceCloseHandle('invalidHandleId'), refused(400, 'InvalidHeaderValue'));
  await assert.rejects(Array.fromAsync(directoryClient.getFileClient('none').listHandles()), refused(404, 'ResourceNotFound'));
  await assert.rejects(share.getDirectoryClient('none').forceCloseAllHandles(), refused(404, 'ResourceNotFound'));
  const refusals = [
    ['PUT', `/${share.name}/d?comp=forceclosehandles`, {}, 'MissingRequiredHeader'],
    ['PUT', `/${share.name}/d/file?comp=forceclosehandles`, { 'x-ms-handle-id': '*', 'x-ms-recursive': 'true' }, 'InvalidHeaderValue'],
    ['GET', `/${share.name}/d?comp=listhandles`, { 'x-ms-recursive': 'deeply' }, 'InvalidHeaderValue'],
    ['GET', `/${share.name}/d?comp=listhandles&marker=x`, {}, 'InvalidQueryParameterValue'],
  ];
  for (const [method, path, headers, code] of refusals) {
    const answer = await request(server, method, path, { headers });
    assert.deepEqual([answer.status, answer.code], [400, code], path);
  }
});
