import { useState } from 'react';
import { Link } from 'wouter';
import { useSystem } from '../api/system.tsx';
import { recentRecords, usedTables } from '../memory/recent.ts';
import { shortened } from '../model/text.ts';
import { FirstPassword } from '../ui/first-password.tsx';
import { Icon } from '../ui/icons.tsx';
import { Page } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { words } from '../words/index.ts';
import { DraftList } from './draft-list.tsx';
import styles from './home.module.css';

const MAX_USED = 8;
const MAX_TITLE = 120;

/** The user's start page: unsaved changes, recently opened records, and frequent tables. */
export function HomePage() {
  const { appId, model, labelOf, paths, tables } = useSystem();
  const userId = model.me.objectId;
  const [recent] = useState(() => recentRecords(appId, userId));
  const [used] = useState(() => usedTables(appId, userId, MAX_USED));
  const shown = used.filter((name) => tables.has(name));
  return (
    <Page title={greeting(shortened(model.me.name.trim() || model.me.username, 80))}>
      <FirstPassword />
      <DraftList />
      <div className={styles.columns}>
        <section className={`card ${styles.card}`} aria-labelledby="recent">
          <h2 id="recent" className={styles.heading}>
            {words.home.recent}
          </h2>
          {recent.length === 0 && <Empty icon="clock">{words.home.recentEmpty}</Empty>}
          <ul>
            {recent.map((record) => (
              <li key={record.objectId}>
                <Link href={paths.record(record.table, record.objectId)} className={styles.row}>
                  <bdi className="clipped">{shortened(record.title || words.related.untitled, MAX_TITLE)}</bdi>
                  <span className={styles.kind}>
                    <bdi>{labelOf(record.table)}</bdi>
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
        <section className={`card ${styles.card}`} aria-labelledby="used">
          <h2 id="used" className={styles.heading}>
            {words.home.used}
          </h2>
          {shown.length === 0 && <Empty icon="table">{words.home.usedEmpty}</Empty>}
          <ul>
            {shown.map((name) => (
              <li key={name}>
                <Link href={paths.grid(name)} className={styles.row}>
                  <Icon name="table" />
                  <bdi className="clipped">{labelOf(name)}</bdi>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      </div>
    </Page>
  );
}

function greeting(name: string): string {
  const hour = new Date().getHours();
  const { morning, afternoon, evening } = words.home;
  if (hour >= 5 && hour < 12) return morning(name);
  return hour >= 12 && hour < 18 ? afternoon(name) : evening(name);
}
