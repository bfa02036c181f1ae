import { setTimeout as sleep } from 'node:timers/promises';
import { reason, runCommand } from '../support/command.ts';
import type { BenchContext } from '../support/context.ts';
import { memoryOf } from '../support/memory.ts';
import { count, median, megabytes, note, printTable, verdict } from '../support/report.ts';

const addingSeconds = 240;

/** Adds systems by the sub-command, then starts with all of them. `--records` is the number of systems. */
export async function systems({ records: wanted = 100, scratch }: BenchContext): Promise<void> {
  const dataDir = await scratch.directory();
  const first = await scratch.service(dataDir);
  const { body } = await first.call('GET', '/platform/schemas');
  await first.stop();

  const times: number[] = [];
  const until = performance.now() + addingSeconds * 1000;
  while (times.length + 1 < wanted && performance.now() < until) {
    const args = ['system', 'add', '--name', `Bench ${times.length}`, '--app-id', `bench${times.length}`];
    const result = await runCommand(scratch, dataDir, args);
    if (result.code !== 0) {
      console.log(`\nsystems: adding one\nnot available: \`${args.join(' ')}\` ended with ${reason(result)}`);
      break;
    }
    times.push(result.seconds);
  }
  const present = times.length + 1;
  if (present < wanted && times.length > 0) note(`only ${present} systems within ${addingSeconds} s or before a failure`);

  const started = performance.now();
  const service = await scratch.service(dataDir);
  const seconds = (performance.now() - started) / 1000;
  await sleep(1000);
  const resident = memoryOf(service.process.pid ?? 0)?.resident ?? 0;
  const answer = await service.call('GET', '/platform/schemas');
  if (answer.status !== 200) throw new Error(`GET /platform/schemas answered ${answer.status} ${answer.text}`);
  await service.stop();

  const add = median(times);
  const judged = (reached: boolean) => (present >= 100 ? verdict(reached) : 'too few systems');
  const rows = [
    [
      'adding a system, start of the program included',
      times.length > 0 ? `${add.toFixed(2)} s` : '–',
      '< 2 s',
      times.length > 0 ? verdict(add < 2) : '',
    ],
    [`start to listening, ${present} systems`, `${seconds.toFixed(2)} s`, '< 3 s with 100', judged(seconds < 3)],
    [`resident memory, ${present} systems`, megabytes(resident), '< 250 MB with 100', judged(resident < 250e6)],
  ];
  const tables = Array.isArray(body?.results) ? count(body.results.length) : '?';
  printTable(`systems: ${present} systems of ${tables} tables`, ['', 'measured', 'target', ''], rows);
}
