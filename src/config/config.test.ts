import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSettings } from './config.ts';
import { ConfigError, checkLines, mergeEnvironment } from './env.ts';

test('defaults', () => {
  const { config, secrets } = parseSettings({}, '/here');
  assert.deepEqual([config.host, config.port, config.dataDir], ['127.0.0.1', 8080, '/here/data']);
  assert.equal(secrets.masterKey, undefined);
  assert.deepEqual([config.sessionDays, config.requestLogDays, config.triggerLogDays, config.timelineDays], [365, 30, 90, 0]);
  assert.ok(Object.isFrozen(config));
});

for (const [environment, line] of [
  [{ PORT: '65536' }, 'PORT: must be a whole number from 0 to 65535'],
  [{ PORT: '1e3' }, /^PORT:/],
  [{ HOST: 'a b' }, /^HOST:/],
  [{ BASE_URL: 'file:///x' }, /^BASE_URL:/],
  [{ APP_ID: 'a/b' }, /^APP_ID:/],
  [{ MASTER_KEY: 'ключ' }, /^MASTER_KEY:/],
  [{ MASTER_KEY: 'same-key', API_KEY: 'same-key' }, /^API_KEY: must differ/],
  [{ TRUST_PROXY: '10.0.0.0/33' }, /^TRUST_PROXY:/],
  [{ TRUST_PROXY: '2' }, /^TRUST_PROXY:/],
  [{ WEB_CONCURRENCY: '2' }, /^WEB_CONCURRENCY: more than one process needs DATABASE_URL$/],
  [{ REQUEST_LOG_DAYS: '-1' }, 'REQUEST_LOG_DAYS: must be a whole number of days up to 36500, 0 for ever'],
  [{ TRIGGER_LOG_DAYS: '36501' }, /^TRIGGER_LOG_DAYS:/],
  [{ TIMELINE_DAYS: 'ever' }, /^TIMELINE_DAYS:/],
  [{ ADMIN_EMAIL: 'a@b@c' }, /^ADMIN_EMAIL:/],
  [{ BACKUP_URL: 's3://key:secret@bucket' }, /^BACKUP_URL: must be a folder, or s3/],
  [{ BACKUP_CRON: 'daily' }, 'BACKUP_CRON: must be a cron of 5 or 6 fields'],
  [{ BACKUP_CRON: '0 0 31 2 *' }, /^BACKUP_CRON:/],
  [{ BACKUP_KEEP: '7 weeks' }, 'BACKUP_KEEP: must be such as 48h,30d,12m'],
  [{ BACKUP_RECIPIENTS: 'AGE-SECRET-KEY-1secret' }, /^BACKUP_RECIPIENTS:/],
  [{ FILES_URL: 's3://key:secret@bucket' }, /^FILES_URL: must be s3:\/\/bucket\/prefix.* without keys$/],
  [{ PORT: 'x', LOG_LEVEL: 'loud' }, /^PORT: .*; LOG_LEVEL: /],
] as const)
  test(`a malformed setting is named in one line without its value: ${JSON.stringify(environment)}`, () => {
    assert.throws(
      () => parseSettings(environment, '/srv'),
      (error) => {
        assert.ok(error instanceof ConfigError);
        if (typeof line === 'string') assert.equal(error.message, line);
        else assert.match(error.message, line);
        assert.doesNotMatch(error.message, /\n|secret|same-key/);
        return true;
      },
    );
  });

for (const [text, value] of [
  ['off', false],
  ['on', true],
  ['10.0.0.0/8, loopback', ['10.0.0.0/8', 'loopback']],
] as const)
  test(`TRUST_PROXY=${text}`, () => assert.deepEqual(parseSettings({ TRUST_PROXY: text }, '/').config.trustProxy, value));

test('the environment wins over the file, and empty values count as not set', () => {
  assert.deepEqual(mergeEnvironment({ PORT: '1', HOST: '' }, { PORT: '2', HOST: 'h', AWS_REGION: 'r' }), {
    PORT: '1',
    HOST: 'h',
  });
});

for (const name of ['PROT', 'port', '__proto__', 'constructor'])
  test(`an unknown name in the file: ${name}`, () => {
    const file = Object.fromEntries([[name, '1']]);
    assert.throws(() => mergeEnvironment({}, file), new ConfigError(`.env: unknown setting ${name}`));
  });

for (const [text, wrong] of [
  ['PORT=1', null],
  ["# don't\nPORT=1\n# can't\n\n  HOST = 127.0.0.1 # it's here\nexport LOG_LEVEL=info", null],
  ['MAIL_FROM="two\nlines"\nPORT=1', null],
  ['PORT 8080', 1],
  ['PORT=1\n{"a":1}', 2],
  ['MAIL_FROM="two\nlines"\nPORT 1', 3],
] as const)
  test(`.env: ${JSON.stringify(text)}`, () => {
    if (wrong === null) checkLines(text);
    else assert.throws(() => checkLines(text), { message: `.env: line ${wrong} is not NAME=value` });
  });
