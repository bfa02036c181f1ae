import type { ReactNode } from 'react';
import { shortened } from '../model/text.ts';
import styles from './page.module.css';

const MAX_TITLE = 200;

/** A page of text width: its heading, what can be done with it, its content. `title` may come from data. */
export function Page({ title: text, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  const title = shortened(text, MAX_TITLE);
  return (
    <div className={styles.page}>
      <title>{title}</title>
      <div className={styles.head}>
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {actions}
      </div>
      {children}
    </div>
  );
}
