import { stat } from 'node:fs/promises';
import type { HeldWork } from '../../automation/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Store } from '../../storage/port.ts';
import type { SystemEntry } from '../../storage/registry.ts';
import { lookupTables, newEntry, openStore, type SystemCredentials } from '../../systems/index.ts';
import type { BackupParts } from '../backup/backups.ts';
import { refuseFull } from '../backup/free-space.ts';
import { checkRules } from './anonymise/index.ts';
import { type ClonedRecords, type CloneEvents, cloneRecords } from './clone-records.ts';
import { type CopiedFiles, copyFiles } from './copy-files.ts';
import type { CloneOptions } from './options.ts';

/** A clone to make. */
export interface CloneRequest extends CloneOptions {
  /** Application id of the original. */
  readonly from: string;
  /** Application id of the clone. */
  readonly as: string;
}

/** A completed clone. */
export interface ClonedSystem extends ClonedRecords, CopiedFiles {
  readonly from: string;
  readonly held: HeldWork;
  /** Shown once, they are not stored elsewhere. */
  readonly credentials: SystemCredentials;
}

/** Clones systems of an installation, also while other processes serve them. */
export class Clones {
  readonly #parts: Omit<BackupParts, 'engineName' | 'spoolDirectory'>;

  constructor(parts: Omit<BackupParts, 'engineName' | 'spoolDirectory'>) {
    this.#parts = parts;
  }

  /**
   * Makes a held system of its own with the records of another one as of one moment. It comes into force as a whole; an interrupted clone leaves
   * nothing, or remains that the next command clears. Reference: clone.md#clone.
   * @throws OperatorError if there is no such system, its store is refused,
   * the application id is taken or malformed, or a rule fits no table or field; errors of the stores
   */
  async clone(request: CloneRequest, events: CloneEvents): Promise<ClonedSystem> {
    const { administration, registry, engine } = this.#parts;
    const { from, as } = request;
    administration.checkSystem(from);
    const original = administration.systems().find(({ appId }) => appId === from) as SystemEntry;
    const { entry, key, credentials } = newEntry(registry.salt, { appId: as, name: nameFor(original, as) });
    const source = await openStore(engine, registry, from);
    let closing: Promise<void> | undefined;
    const close = () => (closing ??= source.close());
    let records: ClonedRecords | undefined;
    let copied: CopiedFiles = { files: 0, missingFiles: 0 };
    try {
      // Before anything is made; again in `cloneRecords`, for the schema of that moment.
      if (request.rules) checkRules(request.rules, source.schema());
      const fill = async (store: Store) => {
        records = await this.#fill(source, store, request, events);
        // Its memory is needed to open the clone.
        await close();
        // Created even without files: a missing folder counts as an outage.
        await this.#parts.makeFilePlace(store.place);
        if (request.withFiles) copied = await copyFiles(await this.#parts.files(), store, source.place, events.files);
        return { system: { ...entry, heldAt: Date.now() }, keys: [key] };
      };
      const act = { act: 'clone', subject: as, after: { from, ...factsOf(request) } } as const;
      await administration.makeSystem({ id: entry.id, appId: as, place: entry.place, fill, act, original: from }, false);
    } finally {
      await close();
    }
    return { from, ...(records as ClonedRecords), ...copied, credentials };
  }

  async #fill(source: Store, store: Store, options: CloneOptions, events: CloneEvents): Promise<ClonedRecords> {
    const lookups = await lookupTables();
    const admit = (share: number) => this.#admit(source, share);
    return source.withSnapshot((snapshot) => cloneRecords(snapshot, store, { options, lookups, admit, events }));
  }

  /** @param share of the original's records @throws OperatorError if the disk has too little room for them */
  async #admit({ place }: Store, share: number): Promise<void> {
    const { storeDirectory, engine } = this.#parts;
    if (storeDirectory === null) return;
    const { size } = await stat((await engine.inspect(place)).place);
    await refuseFull(storeDirectory, size * share);
  }
}

/** What the log says of a clone. */
const factsOf = ({ extent, rules, withFiles, withLogins }: CloneRequest): JsonObject => ({
  extent: extent.kind,
  anonymised: rules !== null,
  withFiles,
  withLogins,
});

/** A name that the operator gave stays; the default one is the application id. */
const nameFor = ({ name, appId }: SystemEntry, as: string) => (name === appId ? as : name);
