import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mock, test } from 'node:test';
import { LogLines } from './log-lines.ts';

/** A file that accepts a number of bytes and then fails. */
class Medium {
  text: string = '';
  room = Number.POSITIVE_INFINITY;
  code = 'ENOSPC';
  readonly lines = new LogLines((bytes) => {
    const taken = bytes.subarray(0, Math.min(bytes.length, this.room));
    if (taken.length === 0) throw Object.assign(new Error(this.code), { code: this.code });
    this.text += taken;
    this.room -= taken.length;
    return taken.length;
  });
}

test('what cannot be written is lost, and the next line that can be says how many', () => {
  const medium = new Medium();
  medium.lines.write('first\n');
  medium.room = 0;
  medium.lines.write('second\n');
  medium.lines.write('third\n');
  medium.room = Number.POSITIVE_INFINITY;
  medium.lines.write('fourth\n');
  medium.lines.write('fifth\n');
  const [first, lost, ...rest] = medium.text.trimEnd().split('\n');
  assert.equal(first, 'first');
  const { count, msg } = JSON.parse(lost ?? '');
  assert.deepEqual({ count, msg }, { count: 2, msg: 'lines of the log were lost' });
  assert.deepEqual(rest, ['fourth', 'fifth']);
});

test('a line that was written in part does not run into the next one', () => {
  const medium = new Medium();
  medium.room = 3;
  medium.lines.write('a line\n');
  medium.room = Number.POSITIVE_INFINITY;
  medium.lines.write('next\n');
  const [torn, lost, next] = medium.text.trimEnd().split('\n');
  assert.equal(torn, 'a l');
  assert.equal(JSON.parse(lost ?? '').count, 1);
  assert.equal(next, 'next');
});

test('a reader who is slow gets all lines, within a bound', () => {
  mock.timers.enable({ apis: ['setInterval'] });
  try {
    const medium = new Medium();
    medium.code = 'EAGAIN';
    medium.room = 8;
    medium.lines.write('first\n');
    medium.lines.write('second\n');
    medium.lines.write('third\n');
    assert.ok(medium.text.endsWith('\nse'));
    medium.room = Number.POSITIVE_INFINITY;
    mock.timers.tick(100);
    assert.deepEqual(medium.text.split('\n'), ['first', 'second', 'third', '']);
    medium.room = 0;
    const long = `${'x'.repeat(600 * 1024)}\n`;
    for (const line of [long, long, long]) medium.lines.write(line);
    medium.room = Number.POSITIVE_INFINITY;
    mock.timers.tick(100);
    medium.lines.write('end\n');
    assert.equal(medium.text.split('\n').filter((line) => line.startsWith('xxx')).length, 1);
    assert.match(medium.text, /"count":2.*\nend\n$/);
  } finally {
    mock.timers.reset();
  }
});

const program = `
  const { createLog } = await import(${JSON.stringify(new URL('./log.ts', import.meta.url).href)});
  const log = createLog('info');
  process.stdin.once('data', () => {
    for (let n = 0; n < 2_000; n++) log.error({ err: new Error('a fault') }, 'a line');
    console.log('alive');
    process.exit(0);
  });
  console.log('ready');
`;

for (const [name, stderr] of [
  ['nobody reads', 'pipe'],
  ['takes no byte', '/dev/full'],
] as const)
  test(`a process whose stderr ${name} goes on`, async () => {
    const redirect = stderr === 'pipe' ? '' : `2>${stderr}`;
    const command = `exec ${JSON.stringify(process.execPath)} --input-type=module -e "$PROGRAM" ${redirect}`;
    const child = spawn('sh', ['-c', command], { env: { PROGRAM: program }, stdio: 'pipe' });
    let said = '';
    child.stdout.on('data', (text) => {
      if (said === '') {
        child.stderr.destroy();
        child.stdin.write('go\n');
      }
      said += text;
    });
    const [code] = await once(child, 'close');
    assert.deepEqual({ code, said }, { code: 0, said: 'ready\nalive\n' });
  });
