import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readEnvironment } from './env.ts';
import { parseS3Url, type S3Location } from './files-url.ts';

const aws: S3Location = {
  bucket: 'bucket',
  prefix: '',
  endpoint: undefined,
  region: undefined,
  forcePathStyle: false,
  forms: true,
};
const minio = { ...aws, endpoint: 'http://127.0.0.1:9000', forcePathStyle: true };

for (const [text, location] of [
  ['s3://bucket', aws],
  ['s3://bucket/', aws],
  ['s3://my.bucket-1/a/b.c_d/?region=eu-central-1', { ...aws, bucket: 'my.bucket-1', prefix: 'a/b.c_d', region: 'eu-central-1' }],
  ['s3://bucket?endpoint=http://127.0.0.1:9000', minio],
  ['s3://bucket?endpoint=http%3A%2F%2F127.0.0.1%3A9000%2F', minio],
  ['s3://bucket?endpoint=http://127.0.0.1:9000&forcePathStyle=false', { ...minio, forcePathStyle: false }],
  ['s3://bucket?forcePathStyle=true&forms=false', { ...aws, forcePathStyle: true, forms: false }],
  ['s3://bucket?endpoint=https://x.example.com/storage/s3', { ...minio, endpoint: 'https://x.example.com/storage/s3' }],
] as const)
  test(`FILES_URL=${text}`, () => assert.deepEqual(parseS3Url(text), location));

for (const text of [
  '',
  's3:',
  's3://',
  's3:///prefix',
  's3://ab',
  's3://bucket_%2F',
  's3://key:secret@bucket',
  's3://bucket:9000',
  's3://bucket#a',
  's3://bucket/a//b',
  's3://bucket/a b',
  's3://bucket/%61',
  `s3://bucket/${'a'.repeat(501)}`,
  's3://bucket?regoin=eu-central-1',
  's3://bucket?Region=eu-central-1',
  's3://bucket?region=a&region=b',
  's3://bucket?region=',
  's3://bucket?region=a%20b',
  's3://bucket?endpoint=',
  's3://bucket?endpoint=minio:9000',
  's3://bucket?endpoint=ftp://minio',
  's3://bucket?endpoint=http://key:secret@minio',
  's3://bucket?endpoint=http://minio?x=1',
  's3://bucket?forms=no',
  's3://bucket?forcePathStyle',
  'https://bucket',
])
  test(`refused: FILES_URL=${text}`, () => assert.equal(parseS3Url(text), null));

test('AWS variables of the .env file reach the client; those of the environment come first', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'test-env-'));
  const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_ENDPOINT_URL_S3'] as const;
  const before = names.map((name) => [name, process.env[name]] as const);
  try {
    for (const name of names) delete process.env[name];
    process.env.AWS_ACCESS_KEY_ID = 'ours';
    await writeFile(
      join(directory, '.env'),
      'AWS_ACCESS_KEY_ID=theirs\nAWS_SECRET_ACCESS_KEY=theirs\nAWS_ENDPOINT_URL_S3=\nPORT=1\n',
    );
    assert.deepEqual(Object.keys(readEnvironment(directory)).includes('AWS_ACCESS_KEY_ID'), false);
    assert.deepEqual(
      names.map((name) => process.env[name]),
      ['ours', 'theirs', undefined],
    );
  } finally {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    await rm(directory, { recursive: true });
  }
});
