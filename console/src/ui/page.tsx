import type { ReactNode } from 'react';
import styles from './page.module.css';

/** A page of text width: its heading, its actions, its content. `title` may come from data. */
export function Page({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
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
