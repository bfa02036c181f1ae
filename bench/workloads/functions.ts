import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchContext } from '../support/context.ts';
import { cpuSecondsOf } from '../support/cpu.ts';
import { fill, serviceTarget } from '../support/fill.ts';
import { LoadClient } from '../support/load-client.ts';
import { count, median, milliseconds, note, printTable, ratio } from '../support/report.ts';
import type { Prepared, Target } from '../support/target.ts';

const files = {
  'nothing.mjs': 'export default () => 1;',
  'echo.mjs': 'export default ({ input }) => input;',
  'reads.mjs': `export default async ({ input, system }) => (await system.get('Bench', input.id)).Name;`,
  'writes.mjs': `export default ({ system }) => system.create('Notes', { Name: 'a' });`,
};

interface Side {
  name: string;
  pid: number;
  target: Target;
  kinds: { name: string; request: Prepared }[];
}

interface Figure {
  rate: number;
  cpu: number;
  p50: number;
}

/** Calls custom functions, by one client and by many, with this version and, with `--against`, another one, alternately. */
export async function functions({ scratch, seconds, rounds, against }: BenchContext): Promise<void> {
  const load = new LoadClient(scratch);
  const sides: Side[] = [];
  for (const [name, program] of [['this', undefined], ...(against ? [['other', join(against, 'src/main.ts')]] : [])] as const) {
    const directory = await scratch.directory();
    mkdirSync(join(directory, 'functions'));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(directory, 'functions', file), text);
    const service = await scratch.service(directory, undefined, program, { FUNCTIONS_DIR: join(directory, 'functions') });
    const target = serviceTarget(service);
    const [id] = await fill(target, 1_000, 1_000, { path: '/platform/classes/Bench', make: (seed) => ({ Name: `n${seed}` }) });
    const call = (fn: string, body: unknown): Prepared => ({ method: 'POST', path: `/functions/${service.appId}/${fn}`, body });
    const text = 'x'.repeat(1_000);
    sides.push({
      name,
      pid: service.process.pid ?? 0,
      target,
      kinds: [
        { name: 'returns at once', request: call('nothing', {}) },
        { name: 'returns 100 kB', request: call('echo', { list: Array.from({ length: 100 }, () => text) }) },
        { name: 'reads a record', request: call('reads', { id }) },
        { name: 'creates a record', request: call('writes', {}) },
      ],
    });
  }
  const figures = new Map<string, Figure[]>();
  const widths = [1, 32];
  for (let round = 1; round <= rounds; round++) {
    for (const connections of widths)
      for (const at of (sides[0] as Side).kinds.keys())
        for (const side of round % 2 === 1 ? sides : sides.toReversed()) {
          const { name, request } = side.kinds[at] as Side['kinds'][number];
          const before = cpuSecondsOf(side.pid);
          const result = await load.run(side.target, [request], { connections, seconds, warmup: 0.5 });
          const cpu = (cpuSecondsOf(side.pid) - before) / result.answered;
          const key = `${connections} ${name} ${side.name}`;
          figures.set(key, [...(figures.get(key) ?? []), { rate: result.perSecond, cpu, p50: result.p50 }]);
        }
    note(`round ${round} of ${rounds} done`);
  }
  const rows = widths.flatMap((connections) =>
    (sides[0] as Side).kinds.map(({ name }) => {
      const of = (side: Side, figure: keyof Figure) =>
        median((figures.get(`${connections} ${name} ${side.name}`) ?? []).map((each) => each[figure]));
      const [own, other] = sides as [Side, Side?];
      const beside = (figure: keyof Figure) => (other ? [ratio(of(own, figure) / of(other, figure))] : []);
      const cpu = milliseconds(of(own, 'cpu') * 1_000);
      return [
        `${name}, ${connections} at once`,
        count(of(own, 'rate')),
        ...beside('rate'),
        cpu,
        ...beside('cpu'),
        milliseconds(of(own, 'p50')),
        ...beside('p50'),
      ];
    }),
  );
  const compared = sides.length > 1 ? ['to other'] : [];
  printTable(
    `functions, embedded: medians of ${rounds} × ${seconds} s`,
    ['', 'calls/s', ...compared, 'CPU a call', ...compared, 'p50', ...compared],
    rows,
  );
}
