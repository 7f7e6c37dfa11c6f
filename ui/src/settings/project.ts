// How the settings say for which projects something is.

/** The project of a form: none where the field is empty. */
export function projectOf(text: string): string | null {
  const project = text.trim();
  return project === "" ? null : project;
}

export const projectName = (project: string | null | undefined): string => project ?? "all projects";
