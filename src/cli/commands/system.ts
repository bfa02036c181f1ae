import type { Command } from 'commander';
import { countJobs } from '../../automation/index.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { isoText } from '../../kernel/time.ts';
import type { Store } from '../../storage/port.ts';
import type { RemovedSystem, SystemEntry } from '../../storage/registry.ts';
import type { StoreState } from '../../systems/index.ts';
import type { Actions, Print } from '../terminal/actions.ts';
import { warnOfShort } from '../terminal/format-error.ts';
import { addProgressOptions, type ProgressOptions, ProgressReporter } from '../terminal/progress.ts';
import { addAdministrator, administratorFrom } from '../users/administrator.ts';
import { addCloneCommand } from './clone.ts';

interface AddOptions {
  appId?: string;
  name?: string;
  masterKey?: string;
  adminEmail?: string;
  adminPassword?: string;
}

interface RemoveOptions extends ProgressOptions {
  now?: true;
}

interface ListOptions {
  removed?: true;
  json?: true;
}

/** Interval in milliseconds for refreshing the progress. */
const TICK_MS = 100;

/** `system add|list|clone|adopt|forget|remove|restore|resume`. */
export function addSystemCommands(program: Command, actions: Actions, print: Print): void {
  const { withAdministration, withRecords, ask } = actions;
  const system = program.command('system').description('manage the systems (tenants) of an installation');
  system
    .command('add')
    .description('add a system; prints its credentials once')
    .option('--app-id <id>', 'application id (default: generated)')
    .option('--name <name>', 'display name (default: the application id)')
    .option('--master-key <key>', 'master key (default: generated)')
    .option('--admin-email <address>', 'create an administrator with this address as user name')
    .option('--admin-password <password>', 'password of the administrator (default: generated, and printed once)')
    .action(async ({ adminEmail, adminPassword, ...options }: AddOptions) => {
      if (adminEmail === undefined && adminPassword !== undefined)
        throw new OperatorError('--admin-password needs --admin-email');
      const admin = adminEmail === undefined ? undefined : administratorFrom(adminEmail, adminPassword, '--admin-password');
      const made = await withAdministration((administration, contextOf) => {
        const fill = admin && ((store: Store, appId: string) => addAdministrator(contextOf(store, appId), admin));
        return administration.addSystem(options, fill && { fill });
      }, 'first');
      print(`Application id: ${made.appId}`);
      print(`Master key: ${made.masterKey}`);
      print(`API key: ${made.apiKey}`);
      warnOfShort('The master key', options.masterKey);
      if (admin && adminPassword === undefined) print(`Password of the administrator: ${admin.password}`);
    });
  system
    .command('list')
    .description(
      'list systems: application id, time of creation, name; if it applies: held, why not served, since when writes may be missing, node of the cluster',
    )
    .option(
      '--removed',
      'list removed systems: application id, time of deletion, name; for a replaced system the id that restores it',
    )
    .option('--json', 'print one JSON object a line')
    .action(async ({ removed, json }: ListOptions) => {
      await withAdministration(async (administration) => {
        const printRow = (row: object) => print(json ? JSON.stringify(row) : Object.values(row).join('\t'));
        if (removed) {
          for (const system of administration.removedSystems()) printRow(removedRow(system));
          return;
        }
        const entries = new Map(administration.systems().map((system) => [system.appId, system]));
        for await (const state of administration.storeStates()) {
          const entry = entries.get(state.appId);
          if (entry) printRow({ ...systemRow(entry), ...heldRow(entry, json), ...stateRow(state) });
        }
      });
    });
  addCloneCommand(system, actions, print);
  system
    .command('adopt <app-id>')
    .description('register an existing store that the registry does not know; prints its new keys once')
    .option('--name <name>', 'display name (default: the application id)')
    .action(async (appId: string, { name }: { name?: string }) => {
      const made = await withAdministration((administration) => administration.adoptSystem({ place: appId, name }), 'adopting');
      print(`Application id: ${made.appId}`);
      print(`Master key: ${made.masterKey}`);
      print(`API key: ${made.apiKey}`);
    });
  system
    .command('forget <app-id>')
    .description('remove a system and its keys from the registry, without touching its files; system adopt registers it again')
    .action(async (appId: string) => {
      await withAdministration((administration) => administration.forgetSystem(appId));
      print(`Forgot ${appId}; what it has stays where it is`);
    });
  addProgressOptions(system.command('remove <app-id>'))
    .description('stop serving a system, and delete it with all its data after 14 days; on a terminal it asks for the id again')
    .option('--now', 'delete it at once; also a system that was removed before')
    .action(async (appId: string, { now, ...output }: RemoveOptions) => {
      await withAdministration(async (administration) => {
        // No question is asked about an impossible request.
        if (!administration.removedSystems().some((system) => now && system.appId === appId)) administration.checkSystem(appId);
        const what = now ? 'It is deleted at once, with all its data.' : 'It is put aside for 14 days, then deleted.';
        const typed = await ask(`${what} Type its application id again: `);
        if (typed !== null && typed.trim() !== appId) throw new OperatorError('that is another id; nothing was done');
        if (now) {
          await withProgress(appId, output, (removed) => administration.deleteSystem(appId, removed));
          print(output.json ? JSON.stringify({ appId, outcome: 'deleted' }) : `Deleted ${appId}`);
          return;
        }
        const until = isoText(await administration.removeSystem(appId));
        if (output.json) print(JSON.stringify({ appId, outcome: 'removed', until }));
        else print(`Removed ${appId}; until ${until} it comes back by: record-service system restore ${appId}`);
      });
    });
  system
    .command('restore <app-id>')
    .description('serve a removed system again, with its records, files and keys')
    .option('--replace', 'remove the system that is served under the same application id')
    .action(async (name: string, { replace = false }: { replace?: boolean }) => {
      const { appId, others } = await withAdministration((administration) => administration.restoreSystem(name, replace));
      print(`Restored ${appId}`);
      for (const other of others)
        print(`Aside until ${isoText(other.deleteAfter)}: record-service system restore ${other.appId} --replace`);
    });
  system
    .command('resume <app-id>')
    .description('start the held schedules, queued triggers and mail of a restored or cloned system')
    .action(async (appId: string) => {
      const jobs = await withRecords(appId, ({ store }) => countJobs(store));
      const wasHeld = await withAdministration((administration) => administration.resumeSystem(appId));
      const what = jobs === 1 ? '1 queued job starts' : `${jobs} queued jobs start`;
      print(wasHeld ? `Resumed ${appId}: ${what}` : `${appId} is not held`);
    });
}

/** State of a held system, for lists. */
const heldRow = ({ appId, heldAt }: SystemEntry, isJson = false) =>
  heldAt !== null && {
    held: isJson ? isoText(heldAt) : `held: schedules, triggers and mail wait; system resume ${appId} starts them`,
  };

/** Shows the progress of a deletion in files; the store does not report progress on records. */
async function withProgress(appId: string, output: ProgressOptions, work: (removed: (files: number) => void) => Promise<void>) {
  const reporter = new ProgressReporter(output);
  let done = 0;
  const ticking = setInterval(() => reporter.progress({ what: `Deleting ${appId}`, done, unit: 'files' }), TICK_MS);
  try {
    await work((files) => {
      done += files;
    });
  } finally {
    clearInterval(ticking);
    reporter.clear();
  }
}

const systemRow = ({ appId, createdAt, name }: SystemEntry) => ({ appId, createdAt: isoText(createdAt), name });

/** Faults of a store, if any, and where in a cluster it lies. */
const stateRow = ({ refused, missingSince, node, isUnreachable }: StoreState) => ({
  ...(refused && { refused: refused.message }),
  ...(missingSince !== null && { missing: `writes since ${isoText(missingSince)} may be missing` }),
  ...(node !== null && { node }),
  ...(isUnreachable && { unreachable: 'the node cannot be reached' }),
});

const removedRow = ({ appId, formerAppId, deleteAfter, name }: RemovedSystem) => ({
  appId: formerAppId ?? appId,
  deleteAfter: deleteAfter === 0 ? 'being deleted' : isoText(deleteAfter),
  name,
  ...(formerAppId !== null && { restoreAs: appId }),
});
