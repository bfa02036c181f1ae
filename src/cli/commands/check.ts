import type { Command } from 'commander';
import { OperatorError } from '../../kernel/operator-error.ts';
import { isoText } from '../../kernel/time.ts';
import { StoreRefused } from '../../storage/identity.ts';
import type { Administration } from '../../systems/index.ts';
import type { Actions, Finding, Print } from '../terminal/actions.ts';

/** A read-only check. */
type Check = (administration: Administration) => AsyncGenerator<Finding>;

/** In the order of the output. */
const checks: readonly Check[] = [migrations, stores, strangers];

/** Systems with pending migrations that are named. */
const MAX_NAMED = 20;

/** `check`. */
export function addCheckCommand(program: Command, { checkService, withAdministration }: Actions, print: Print): void {
  program
    .command('check')
    .description(
      'check settings, database, files, mail, disk and functions, compare each system with the registry and read its whole store, changing nothing; exit code 1 if something is wrong',
    )
    .option('--json', 'print one JSON object a line')
    .action(async ({ json }: { json?: true }) => {
      let failed = 0;
      const report = (finding: Finding) => {
        if (finding.outcome === 'failed') failed++;
        print(json ? JSON.stringify(finding) : Object.values(finding).join('\t'));
      };
      const state = await checkService(report);
      if (state === 'pending') report({ check: 'stores', outcome: 'ok', detail: 'not read: opening them migrates the registry' });
      if (state === 'ready' || state === 'lost')
        await withAdministration(async (administration) => {
          for (const check of checks) for await (const finding of check(administration)) report(finding);
        }, 'checked');
      if (failed > 0) throw new OperatorError(`${failed} ${failed === 1 ? 'check' : 'checks'} failed`);
    });
}

/** Pending migrations are no failure: the next start runs them. Stores that cannot be read are reported by `stores`. */
async function* migrations(administration: Administration): AsyncGenerator<Finding> {
  const pending: string[] = [];
  let isRefused = false;
  for await (const { appId, name, refused, isUnreachable } of administration.storeStates())
    try {
      if (refused || isUnreachable) continue;
      if ((await administration.pendingMigrations(appId, name)) > 0) pending.push(appId);
    } catch (error) {
      if (!(error instanceof OperatorError) || error instanceof StoreRefused) continue;
      isRefused = true;
      yield { system: appId, check: 'migrations', outcome: 'failed', detail: error.message };
    }
  const more = pending.length > MAX_NAMED ? ` and ${pending.length - MAX_NAMED} more` : '';
  const detail = pending.length === 0 ? 'none pending' : `pending in ${pending.slice(0, MAX_NAMED).join(', ')}${more}`;
  if (!isRefused || pending.length > 0) yield { check: 'migrations', outcome: 'ok', detail };
}

async function* stores(administration: Administration): AsyncGenerator<Finding> {
  for await (const { appId, name, place, refused, missingSince, node, isUnreachable } of administration.storeStates()) {
    const found = { system: appId, check: 'store' };
    if (isUnreachable) {
      yield { ...found, outcome: 'failed', detail: `the node ${node} cannot be reached` };
      continue;
    }
    // A store once found damaged may be intact by now; reading it decides.
    const damage = refused && refused.why !== 'damaged' ? null : await administration.verifyStore(name);
    if (damage !== null) yield { ...found, outcome: 'failed', detail: `${place} is damaged: ${damage}` };
    else if (refused && refused.why !== 'damaged') yield { ...found, outcome: 'failed', detail: refused.message };
    else if (missingSince === null) yield { ...found, outcome: 'ok' };
    else yield { ...found, outcome: 'ok', detail: `writes since ${isoText(missingSince)} may be missing` };
  }
}

async function* strangers(administration: Administration): AsyncGenerator<Finding> {
  for (const { name, place } of await administration.unregisteredStores())
    yield {
      system: name ?? place,
      check: 'store',
      outcome: 'failed',
      detail: `${place} is not registered: system adopt takes it in`,
    };
}
