import { givenName, shortened } from '../model/text.ts';
import { type FileValue, safeUrl } from '../model/values.ts';
import { Icon } from '../ui/icons.tsx';
import { words } from '../words/index.ts';
import styles from './fields.module.css';

/** A stored file: a link, with a thumbnail if it is an image. */
export function FileView({ file }: { file: FileValue }) {
  const url = safeUrl(file.url, location.href);
  // Stored names begin with an id.
  const name = shortened(givenName(file.name), 120);
  const isPicture = /\.(?:png|jpe?g|gif|webp|avif)$/i.test(file.name);
  const content = (
    <>
      {url && isPicture ? <img className={styles.picture} src={url} alt="" loading="lazy" /> : <Icon name="file" size={18} />}
      <bdi>{name}</bdi>
    </>
  );
  return (
    <span className={styles.fileName}>
      {url ? (
        <a href={url} target="_blank" rel="noreferrer noopener">
          {content}
        </a>
      ) : (
        content
      )}
      {file.isPrivate && <span className={styles.private}>{words.fields.privateFile}</span>}
    </span>
  );
}
