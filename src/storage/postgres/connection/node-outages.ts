import type { Conditions } from '../../../observe/index.ts';
import type { Unreachable } from '../../engine.ts';
import { Recovery } from '../../recovery.ts';
import type { Statement } from '../../sql/sql-writer.ts';
import type { Row } from './database.ts';
import { lostNodeOf, unavailable } from './map-error.ts';
import { NodeUnanswered } from './node-errors.ts';
import { locationsFrom, locationsStatement } from './node-locations.ts';
import type { PipelinedConnection } from './pipelined-connection.ts';

/** Interval of checks of one node, in milliseconds, while work of its systems gets no answer. */
const CHECK_INTERVAL_MS = 2000;
/** Interval of reading the locations of the systems again, in milliseconds, while a node is away: systems may be moved from it. */
const LOCATE_INTERVAL_MS = 5000;

/** Settings and collaborators of `NodeOutages`. */
export interface NodeOutagesSettings {
  readonly conditions: Pick<Conditions, 'met' | 'over'> | undefined;
  /** Runs a query of the coordinator on a connection that no other work waits for. */
  readonly query: (statement: Statement) => Promise<readonly Row[]>;
}

/**
 * Tracks which nodes of a cluster are away. Work of systems that lie on such a node is refused at once, so that it takes no connection from the work
 * of others; one probe for each node shows its return. Without a cluster it does nothing. Reference: faults.md#nodes-of-a-cluster.
 */
export class NodeOutages {
  readonly #settings: NodeOutagesSettings;
  readonly #recoveries = new Map<string, Recovery>();
  readonly #checkedAt = new Map<string, number>();
  /** Node of each system's schema, as of the last reading. */
  #locations: ReadonlyMap<string, string> = new Map();
  #locating: Promise<void> | undefined;
  #locatedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(settings: NodeOutagesSettings) {
    this.#settings = settings;
  }

  /** Records an error that names a node which the coordinator has lost. @returns whether it is the one where the system lies */
  met(error: unknown, system: string | undefined): boolean {
    const own = system === undefined ? undefined : this.#locations.get(system);
    const node = lostNodeOf(error) || own;
    if (node === undefined || this.#isClosed) return false;
    this.#settings.conditions?.met('a node of the database cannot be reached', { node }, (error as Error).cause ?? error);
    this.#recoveryOf(node).met();
    void this.#locate(LOCATE_INTERVAL_MS);
    return node === own;
  }

  /** @throws unavailable if the node where a system lies is away */
  require(system: string): void {
    if (this.#recoveries.size === 0) return;
    const node = this.#awayNodeOf(system);
    if (node !== undefined) throw unavailable(new NodeUnanswered(node));
  }

  /** Resolves once the node where a system lies is back; `undefined` if it is not away. */
  whenBack(system: string): Promise<void> | undefined {
    const node = this.#awayNodeOf(system);
    return node === undefined ? undefined : this.#recoveries.get(node)?.whenBack();
  }

  /**
   * Must be called regularly with connections that have got no answer for a second. Checks the nodes for whose systems they work, and ends those
   * that wait for a node which is away.
   */
  checkSilent(links: Iterable<PipelinedConnection>): void {
    for (const link of links) {
      const { system } = link;
      if (system === undefined) continue;
      const node = this.#awayNodeOf(system);
      if (node !== undefined) link.destroy(new NodeUnanswered(node));
      else this.suspect(system);
    }
  }

  /** Checks the node where a system lies, in the background. */
  suspect(system: string): void {
    void this.#locate(CHECK_INTERVAL_MS).then(() => {
      const node = this.#locations.get(system);
      const now = performance.now();
      if (node === undefined || now - (this.#checkedAt.get(node) ?? Number.NEGATIVE_INFINITY) < CHECK_INTERVAL_MS) return;
      this.#checkedAt.set(node, now);
      this.#check(node).catch((error) => {
        if (error instanceof NodeUnanswered) this.met(error, system);
      });
    });
  }

  /** Nodes that are away, and systems that lie there. */
  get unreachable(): Unreachable {
    if (this.#recoveries.size === 0) return { nodes: 0, systems: 0 };
    const away = new Set([...this.#recoveries].filter(([, { isAway }]) => isAway).map(([node]) => node));
    return { nodes: away.size, systems: [...this.#locations.values()].filter((node) => away.has(node)).length };
  }

  close(): void {
    this.#isClosed = true;
    for (const recovery of this.#recoveries.values()) recovery.close();
  }

  #awayNodeOf(system: string): string | undefined {
    const node = this.#locations.get(system);
    return node !== undefined && this.#recoveries.get(node)?.isAway ? node : undefined;
  }

  #recoveryOf(node: string): Recovery {
    let recovery = this.#recoveries.get(node);
    if (!recovery) {
      const probe = async () => {
        void this.#locate(LOCATE_INTERVAL_MS);
        await this.#check(node);
      };
      recovery = new Recovery(probe, () => this.#settings.conditions?.over({ node }, 'a node of the database cannot be reached'));
      this.#recoveries.set(node, recovery);
    }
    return recovery;
  }

  /** @throws NodeUnanswered if the coordinator gets no answer of a node; unavailable if the coordinator itself cannot be reached */
  async #check(node: string): Promise<void> {
    const at = node.lastIndexOf(':');
    const params = [node.slice(0, at), Number(node.slice(at + 1))];
    const [row] = await this.#settings.query({ text: 'SELECT citus_check_connection_to_node($1, $2::integer)', params });
    if (row?.[0] !== 1) throw new NodeUnanswered(node);
  }

  /** Reads where the systems lie, unless that was done within the last milliseconds. Never rejects. */
  #locate(withinMs: number): Promise<void> {
    if (performance.now() - this.#locatedAt < withinMs) return this.#locating ?? Promise.resolve();
    this.#locatedAt = performance.now();
    this.#locating = this.#settings.query(locationsStatement).then(
      (rows) => {
        this.#locations = locationsFrom(rows);
      },
      () => {},
    );
    return this.#locating;
  }
}
