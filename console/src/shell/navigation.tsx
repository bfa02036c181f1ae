import { useId, useMemo, useState } from 'react';
import { Link } from 'wouter';
import type { TableModel } from '../../../src/console/protocol/protocol.ts';
import { useSystem } from '../api/system.tsx';
import { usedTables } from '../memory/recent.ts';
import { tableLabel } from '../model/labels.ts';
import { directionOf } from '../model/text.ts';
import { words } from '../words/index.ts';
import styles from './navigation.module.css';

/** Number of frequent tables at the top. */
const MAX_USED = 6;
/** Fewer tables need no filter. */
const MIN_FILTERED = 12;

/** Links to the tables: frequent ones at the top, then all others by label; each once. */
export function Navigation({ current, onGo }: { current: string | null; onGo: () => void }) {
  const { appId, model, format } = useSystem();
  const [filter, setFilter] = useState('');
  const filterId = useId();
  const tables = useMemo(
    () => model.tables.filter((table) => table.isListed).sort((a, b) => format.compare(tableLabel(a), tableLabel(b))),
    [model, format],
  );
  // As of when the page was loaded, so that the list does not move under the pointer.
  const [used] = useState(() => usedTables(appId, model.me.objectId, MAX_USED));
  const wanted = filter.trim().toLocaleLowerCase();
  const isWanted = (table: TableModel) => `${tableLabel(table)} ${table.name}`.toLocaleLowerCase().includes(wanted);
  const shown = wanted ? tables.filter(isWanted) : tables;
  const top = wanted ? [] : used.flatMap((name) => shown.find((table) => table.name === name) ?? []);
  const others = shown.filter((table) => !top.includes(table));
  const list = (items: readonly TableModel[]) => <TableLinks tables={items} current={current} onGo={onGo} />;
  return (
    <nav className={styles.navigation} aria-label={words.shell.tables}>
      {tables.length >= MIN_FILTERED && (
        <div className={styles.filter}>
          <label className="visually-hidden" htmlFor={filterId}>
            {words.shell.filterTables}
          </label>
          <input
            id={filterId}
            className="input"
            dir={directionOf(null, filter)}
            autoComplete="off"
            placeholder={words.shell.filterTables}
            value={filter}
            onChange={(event) => setFilter(event.target.value)}
            onKeyDown={(event) => event.key === 'Escape' && setFilter('')}
          />
        </div>
      )}
      {top.length > 0 && (
        <>
          <p className={styles.group}>{words.shell.recentTables}</p>
          {list(top)}
          <p className={styles.group}>{words.shell.allTables}</p>
        </>
      )}
      {list(others)}
      {shown.length === 0 && <p className={styles.none}>{tables.length > 0 ? words.shell.noTable : words.shell.noTables}</p>}
    </nav>
  );
}

function TableLinks({ tables, current, onGo }: { tables: readonly TableModel[]; current: string | null; onGo: () => void }) {
  const { paths } = useSystem();
  return (
    <ul>
      {tables.map((table) => (
        <li key={table.name}>
          <Link
            href={paths.grid(table.name)}
            className={styles.link}
            aria-current={table.name === current ? 'page' : undefined}
            title={table.name}
            onClick={onGo}
          >
            <bdi className="clipped">{tableLabel(table)}</bdi>
          </Link>
        </li>
      ))}
    </ul>
  );
}
