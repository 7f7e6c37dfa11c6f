export const DAYS = ["14", "1", "7", "30", "90"] as const;
