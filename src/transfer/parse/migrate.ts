import { setTimeout as pause } from 'node:timers/promises';
import { ADMIN } from '../../access/index.ts';
import { insertAct, newAct, operator } from '../../acts/index.ts';
import type { Files } from '../../files/index.ts';
import { readFirst } from '../../records/index.ts';
import { type ClassLevelPermissions, tableOf } from '../../schema/model.ts';
import { type MigrationPlan, type PlannedClass, planMigration } from './plan/plan.ts';
import { type MigrationReport, reportOf } from './report.ts';
import { openParseSource } from './source/open.ts';
import type { ParseSource } from './source/source.ts';
import { FileCopier, type FileOrigin, fileOriginOf } from './write/copy-files.ts';
import { Findings } from './write/findings.ts';
import { RecordMapper } from './write/record-mapper.ts';
import { type MergedRole, surveyClass } from './write/survey.ts';
import { makeIndexes, type PlannedTable, prepareTables, type Target } from './write/target.ts';
import { writeMembers } from './write/write-members.ts';
import { type BatchBounds, writeRecords } from './write/write-records.ts';
import { writeRoles } from './write/write-roles.ts';

/** Options of a migration. */
export interface MigrationOptions {
  /** `postgres://…`, `mongodb://…`, or a directory of dumps. */
  readonly from: string;
  /** A directory or a base URL; `null` leaves the bytes of files where they are. */
  readonly filesFrom: string | null;
  /** Names of classes; `null` for all. */
  readonly only: readonly string[] | null;
  /** Whether nothing is written. */
  readonly isDry: boolean;
  /** Whether existing objects are kept as they are instead of refused. */
  readonly isContinued: boolean;
}

/** The target of a migration. */
export interface MigrationTarget extends Target {
  readonly files: () => Promise<Files>;
  readonly otherProcesses: () => 'none' | 'waiting' | 'working';
}

/** Progress events of a migration. */
export interface MigrationEvents {
  /** Objects of a class are being examined. */
  examining(className: string, done: number): void;
  /** Objects of a class, or members of a Relation, are being written. @param share of all objects, from 0 to 1 */
  writing(what: string, done: number, share: number): void;
}

/** Objects per commit, depending on other processes on the store; few if their writes wait. */
const batchSizes = { none: 1_000, waiting: 500, working: 1_000 } as const;
const MAX_BATCH_CHARS = 2 * 1024 * 1024;

/**
 * Imports the data of a Parse Server into a system. Reference: migration.md#migration-from-parse-server. The source is examined first, so that
 * obstacles
 * are reported before anything is written; then tables, users, roles, objects, members of Relations and indexes are created. Each batch is a commit,
 * and
 * objects keep their ids, so an interrupted run can be repeated with `isContinued`. No trigger runs, and the timeline is not written.
 * @throws OperatorError if the source cannot be read, or a class cannot be imported as a whole; errors of the store
 */
export async function migrateParse(
  options: MigrationOptions,
  target: MigrationTarget,
  events: MigrationEvents,
): Promise<MigrationReport> {
  const origin = options.filesFrom === null ? null : await fileOriginOf(options.filesFrom);
  const source = await openParseSource(options.from);
  try {
    const plan = planMigration(target.store.schema(), await source.classes(), options.only);
    return await new Migration(options, { target, source, plan, origin, events }).run();
  } finally {
    await source.close();
  }
}

interface MigrationParts {
  readonly target: MigrationTarget;
  readonly source: ParseSource;
  readonly plan: MigrationPlan;
  readonly origin: FileOrigin | null;
  readonly events: MigrationEvents;
}

class Migration {
  readonly #options: MigrationOptions;
  readonly #parts: MigrationParts;
  /** Findings of the examination. */
  readonly #examined = new Findings();
  readonly #merged: MergedRole[] = [];
  readonly #permissions: string[] = [];
  readonly #indexesLeftOut: string[] = [];
  #newAdministrators = 0;

  constructor(options: MigrationOptions, parts: MigrationParts) {
    this.#options = options;
    this.#parts = parts;
  }

  async run(): Promise<MigrationReport> {
    const { plan, source } = this.#parts;
    await this.#examine();
    const tables = await this.#tables();
    const written = this.#options.isDry ? this.#examined : await this.#write(tables);
    written.sharedNames = this.#examined.sharedNames;
    const notImported = new Map<string, number>();
    const others = this.#options.only ? [] : plan.notImported;
    for (const name of others) notImported.set(name, await source.count(name));
    if (!this.#options.only) for (const [name, count] of await source.others()) notImported.set(name, count);
    return reportOf({
      plan,
      findings: written,
      notImported: new Map([...notImported].filter(([, count]) => count > 0).sort(([a], [b]) => (a < b ? -1 : 1))),
      merged: this.#merged,
      newAdministrators: this.#newAdministrators,
      permissions: this.#permissions,
      indexesLeftOut: this.#indexesLeftOut,
      notes: source.notes(),
      copiesFiles: this.#parts.origin !== null,
    });
  }

  async #examine(): Promise<void> {
    const { plan, source, target, origin, events } = this.#parts;
    const { isDry, isContinued } = this.#options;
    const copier = origin && isDry ? new FileCopier(origin, null, target, this.#examined) : null;
    for (const planned of plan.classes) {
      const merged = await surveyClass(
        {
          source,
          target,
          findings: this.#examined,
          isContinued,
          copiesFiles: origin !== null,
          copier,
          onProgress: (className, done) => events.examining(className, done),
        },
        planned,
      );
      this.#merged.push(...merged);
    }
    const admin = this.#merged.find(({ name }) => name === ADMIN);
    for (const [planned, field] of relationsOf(plan))
      for await (const { owner } of source.members(planned.className, field)) {
        this.#examined.members++;
        if (owner === admin?.sourceId && planned.className === '_Role' && field === 'users') this.#newAdministrators++;
      }
  }

  /** Chooses the permissions: a table that contains records of this system keeps its own. */
  async #tables(): Promise<PlannedTable[]> {
    const { plan, target } = this.#parts;
    const tables: PlannedTable[] = [];
    for (const planned of plan.classes) {
      const permissions = await this.#permissionsFor(planned, target);
      this.#permissions.push(...(permissions === null ? [] : planned.permissions.closed));
      tables.push({ planned, permissions });
    }
    return tables;
  }

  async #permissionsFor({ className, permissions }: PlannedClass, { store }: Target): Promise<ClassLevelPermissions | null> {
    const table = store.schema().tables.get(className);
    if (!table) return permissions.permissions;
    if (className === '_Role') {
      // Writing roles confers rights, so this system's permissions for it stay in force.
      const { find, get, count } = permissions.permissions;
      this.#permissions.push('who may change _Role stays as it is here');
      return { ...table.permissions, ...(find && { find }), ...(get && { get }), ...(count && { count }) };
    }
    const others = (await store.raw.count(table)) - (this.#examined.present.get(className) ?? 0);
    const isOwn = className === '_User' ? others <= (await this.#administrators(store)) : others === 0;
    if (isOwn) return permissions.permissions;
    this.#permissions.push(`those of ${className} stay as they are here, since it holds records of this system`);
    return null;
  }

  /** Returns the number of administrators of this system. If these are its only users, the permissions of `_User` may be replaced. */
  async #administrators(store: Target['store']): Promise<number> {
    const roles = tableOf(store.schema(), '_Role');
    const users = roles.fields.get('users');
    const admin = await readFirst<{ objectId: string }>(store, {
      className: '_Role',
      field: 'name',
      value: ADMIN,
      fields: ['objectId'],
    });
    if (!users || !admin) return 0;
    const members = await store.raw.members(users, [admin.objectId, ''], MAX_ADMINISTRATORS);
    return members.filter(([owner]) => owner === admin.objectId).length;
  }

  /** Names no source: its address may hold a password. */
  async #record(store: Target['store']): Promise<void> {
    const tables = this.#parts.plan.classes.map(({ className }) => className);
    const after = { from: 'parse', tables, continued: this.#options.isContinued };
    const act = newAct({ act: 'import', subject: 'migrate parse', after }, operator);
    await store.write({ plan: (schema) => ({ changes: [], mutations: insertAct(schema, act) }) });
  }

  async #write(tables: readonly PlannedTable[]): Promise<Findings> {
    const { plan, source, target, origin, events } = this.#parts;
    const findings = new Findings();
    const bounds = (): BatchBounds => ({ items: batchSizes[target.otherProcesses()], size: MAX_BATCH_CHARS });
    const yieldTurn = async (heldMs: number) => {
      if (target.otherProcesses() === 'waiting') await pause(heldMs);
    };
    await this.#record(target.store);
    await prepareTables(target.store, tables, this.#examined.passwords > 0);
    const copier = origin ? new FileCopier(origin, await target.files(), target, findings) : null;
    const total = Math.max(
      1,
      [...this.#examined.records.values()].reduce((sum, count) => sum + count, this.#examined.members),
    );
    let before = 0;
    for (const planned of plan.classes) {
      const { className } = planned;
      const progressed = (done: number) => events.writing(className, before + done, (before + done) / total);
      const mapper = new RecordMapper(planned, findings, origin !== null);
      const write = className === '_Role' ? writeRoles : writeRecords;
      findings.records.set(className, 0);
      await write(target, source.records(planned.source), { className, mapper, findings, copier, bounds, progressed, yieldTurn });
      before += findings.records.get(className) ?? 0;
    }
    for (const [{ className }, field] of relationsOf(plan)) {
      let members = 0;
      await writeMembers(target, { className, field }, source.members(className, field), bounds, (done) => {
        members = done;
        events.writing(`${className}.${field}`, before + done, (before + done) / total);
      });
      findings.members += members;
      before += members;
    }
    for (const planned of plan.classes) this.#indexesLeftOut.push(...(await makeIndexes(target.store, planned)));
    return findings;
  }
}

/** Maximum number of members of the administrators' role that are counted. */
const MAX_ADMINISTRATORS = 1_000;

function* relationsOf({ classes }: MigrationPlan): Generator<[PlannedClass, string]> {
  for (const planned of classes) for (const [name, { type }] of planned.fields) if (type === 'Relation') yield [planned, name];
}
