import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { after, afterEach, before, test } from 'node:test';
import { parseS3Url } from '../../../config/index.ts';
import { startS3 } from '../../../files/testing/s3-server.ts';
import { HOUR_MS } from '../../../kernel/time.ts';
import { S3Destination } from './s3.ts';

const name = '20260101T000000Z.rdsb';
const [old, young] = [2 * HOUR_MS, HOUR_MS / 2];
/** Multipart uploads: key, milliseconds since the start, and since the last part. */
const begun: Record<string, readonly [key: string, ago: number, lastPart: number | null]> = {
  left: [`all/App/${name}`, old, null],
  leftLater: [`all/Other/${name}`, old, old],
  young: [`all/App/${name}`, young, null],
  underWay: [`all/App/${name}`, old, young],
  ofOthers: ['all/App/notes.txt', old, null],
  deeper: [`all/App/more/${name}`, old, null],
};

let s3: Awaited<ReturnType<typeof startS3>>;
before(async () => {
  s3 = await startS3();
  // biome-ignore lint/style/noProcessEnv: this is where the client looks for keys
  Object.assign(process.env, s3.env);
});
after(() => s3.stop());
afterEach(() => {
  s3.intercept = null;
});

/** Simulates S3 multipart requests. @param refused the request that is forbidden */
function answering(aborted: string[], refused?: 'list' | 'abort') {
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const { searchParams } = new URL(request.url ?? '', 'http://s3');
    const id = searchParams.get('uploadId');
    const what = searchParams.has('uploads') ? 'list' : id === null ? null : request.method === 'DELETE' ? 'abort' : 'parts';
    if (what === null) return false;
    if (what === refused) {
      response.writeHead(403).end('<Error><Code>AccessDenied</Code><Message>no</Message></Error>');
      return true;
    }
    if (what === 'abort') aborted.push(String(id));
    if (what === 'list') assert.equal(searchParams.get('prefix'), 'all/');
    response
      .writeHead(what === 'abort' ? 204 : 200)
      .end(what === 'list' ? uploads() : what === 'parts' ? partsOf(String(id)) : '');
    return true;
  };
}

const at = (ago: number) => new Date(Date.now() - ago).toISOString();
const uploads = () =>
  `<ListMultipartUploadsResult>${Object.entries(begun)
    .map(([id, [key, ago]]) => `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${at(ago)}</Initiated></Upload>`)
    .join('')}</ListMultipartUploadsResult>`;

function partsOf(id: string): string {
  const ago = begun[id]?.[2] ?? null;
  const part = ago === null ? '' : `<Part><PartNumber>1</PartNumber><LastModified>${at(ago)}</LastModified></Part>`;
  return `<ListPartsResult><IsTruncated>false</IsTruncated>${part}</ListPartsResult>`;
}

async function writeOne(): Promise<void> {
  const url = s3.filesUrl('all');
  const location = parseS3Url(url);
  assert.ok(location);
  const destination = await S3Destination.open(location, url, '--to');
  for (const appId of ['App', 'Third']) {
    const kept = await destination.write(appId, name, Readable.from([Buffer.from('all')]), 3);
    assert.equal(kept.bytes, 3);
  }
  destination.close();
}

test('uploads that were left for an hour are aborted, others stay', async () => {
  const aborted: string[] = [];
  s3.intercept = answering(aborted);
  await writeOne();
  assert.deepEqual(aborted, ['left', 'leftLater']);
});

test('a bucket that refuses to list or to abort them takes a backup all the same', async () => {
  for (const refused of ['list', 'abort'] as const) {
    const aborted: string[] = [];
    s3.intercept = answering(aborted, refused);
    await writeOne();
    assert.deepEqual(aborted, []);
  }
});
